"""The page's process: started, waited for, found again, stopped."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import time
import urllib.request
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launcher import room
from launcher.environment import Plan
from launcher.words import LauncherError, ask, say
from pipelines.settings import Settings

FIRST_PORT = 7860
START_SECONDS = 90.0
STOP_SECONDS = 10.0
EVERYWHERE = ("0.0.0.0", "::", "")


@dataclass(frozen=True, slots=True)
class Address:
    """Where the page is to be: ``port`` None means the first free one from 7860 on."""

    host: str
    port: int | None
    demo: bool = False

    def url(self, port: int) -> str:
        """What to type into a browser on this computer."""
        host = "127.0.0.1" if self.host in EVERYWHERE else self.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{port}/" + ("?demo=1" if self.demo else "")


def start(
    plan: Plan, address: Address, rest: Sequence[str], *, background: bool, opening: bool, yes: bool
) -> int:
    """Start the page unless it runs already, wait until it answers, say where it is.

    In the foreground this returns when the page ends, with its exit code; in the background at once.
    """
    logs = Settings.load().logs
    _writable(logs)
    running = _running(logs)
    if running:
        url = str(running["url"])
        say(
            f"Dubwright is running already: {url} (stop it with bash start_app.sh --stop)",
            f"Dubwright 已在运行:{url}(停止:bash start_app.sh --stop)",
        )
        _open(url, opening)
        return 0
    port = choose_port(address, yes)
    url = address.url(port)
    command = [str(plan.python), "app.py", "--listen", address.host, "--port", str(port), *rest]
    output = logs / "start.log"
    child = _launch(command, plan.root, output if background else None)
    _wait_until_it_answers(child, url, output if background else None)
    _note(logs, child.pid, url)
    say(
        f"Dubwright is ready: {url}\nLog: {logs}"
        + ("\nStop: bash start_app.sh --stop" if background else "  (Ctrl-C stops it)"),
        f"Dubwright 已就绪:{url}\n日志:{logs}"
        + ("\n停止:bash start_app.sh --stop" if background else "  (按 Ctrl-C 停止)"),
    )
    _open(url, opening)
    return 0 if background else _stay(child, logs)


def choose_port(address: Address, yes: bool = False) -> int:
    """The port asked for, or the first free one; a taken port that was asked for is refused unless the user takes the next.

    Raises:
        LauncherError: the port asked for is taken; the message names the next free one.
    """
    first = FIRST_PORT if address.port is None else address.port
    if not 0 < first < 65536:
        raise LauncherError(f"{first} is not a port (1 to 65535).", f"{first} 不是有效端口(1 至 65535)。", 2)
    free = next(
        (port for port in range(first, min(first + 100, 65536)) if room.port_free(address.host, port)), None
    )
    if free is None:
        raise LauncherError(
            f"No free port from {first} on at {address.host}; choose another with --port.",
            f"{address.host} 上从 {first} 起没有空闲端口;请用 --port 指定其他端口。",
        )
    if free == first:
        return free
    if address.port is None or yes:
        say(f"Port {first} is taken; using {free}.", f"端口 {first} 已被占用,改用 {free}。")
        return free
    if ask(f"Port {first} is taken. Use {free} instead?", f"端口 {first} 已被占用。改用 {free}?"):
        return free
    raise LauncherError(
        f"Port {first} is taken by another program; the next free one is {free}: bash start_app.sh --port {free}",
        f"端口 {first} 已被其他程序占用;下一个空闲端口为 {free}:bash start_app.sh --port {free}",
        2,
    )


def answers(url: str, seconds: float = 2.0) -> bool:
    """Whether a Dubwright page answers at this address (never through a proxy)."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url.partition("?")[0].rstrip("/") + "/healthz", timeout=seconds) as reply:
            return bool(reply.status == 200)
    except (OSError, ValueError):
        return False


def stop() -> int:
    """End the page that was started here: SIGTERM, and SIGKILL when it has not ended after ten seconds."""
    logs = Settings.load().logs
    running = _running(logs)
    if not running:
        say("Dubwright is not running.", "Dubwright 没有在运行。")
        return 0
    pid = int(running["pid"])
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    if _alive(pid):
        os.kill(pid, signal.SIGKILL)
    (logs / "server.json").unlink(missing_ok=True)
    say("Dubwright has stopped; finished work is kept.", "Dubwright 已停止;已完成的工作均已保留。")
    return 0


def _writable(logs: Path) -> None:
    try:
        logs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LauncherError(
            f"The log folder cannot be made: {logs} ({error.strerror})",
            f"无法创建日志文件夹:{logs}({error.strerror})",
        ) from error
    room.check_writable(logs)


def _launch(command: list[str], folder: Path, output: Path | None) -> subprocess.Popen[bytes]:
    if (
        output is None
    ):  # the page's own line with its address would be said twice; what goes wrong is on stderr
        return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with output.open("wb") as file:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _wait_until_it_answers(child: subprocess.Popen[bytes], url: str, output: Path | None) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if child.poll() is not None:
            last = "".join(f"\n  {line}" for line in _tail(output)) if output else ""
            # 2 and 3 are app.py's own answers (wrong option, something missing): it has said what is the matter
            code = child.returncode if child.returncode in (2, 3) else 1
            raise LauncherError(
                f"The page ended while starting (exit code {child.returncode}).{last}",
                f"页面在启动时退出(退出码 {child.returncode})。{last}",
                code,
            )
        if answers(url):
            return
        time.sleep(0.1)
    child.terminate()
    raise LauncherError(
        f"The page did not answer at {url} within {START_SECONDS:.0f} s.",
        f"页面在 {START_SECONDS:.0f} 秒内没有响应:{url}。",
    )


def _tail(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()[-8:]


def _stay(child: subprocess.Popen[bytes], logs: Path) -> int:
    """Wait for the page. Ctrl-C reaches it too (same terminal), a kill of the launcher is passed on; it gets ten seconds."""
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        return child.wait()
    except KeyboardInterrupt:
        try:
            child.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        say("\nDubwright has stopped; finished work is kept.", "\nDubwright 已停止;已完成的工作均已保留。")
        return 0
    finally:
        (logs / "server.json").unlink(missing_ok=True)


def _note(logs: Path, pid: int, url: str) -> None:
    note = logs / "server.json"
    part = note.with_name("server.json.part")
    part.write_text(json.dumps({"pid": pid, "url": url, "born": _born(pid)}) + "\n", encoding="utf-8")
    part.replace(note)


def _running(logs: Path) -> dict[str, Any] | None:
    """The page started from here, if that very process is still alive (process numbers are used again)."""
    try:
        note = json.loads((logs / "server.json").read_text(encoding="utf-8"))
        pid = int(note["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return note if _alive(pid) and _born(pid) == note.get("born") else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _state(pid) != "Z"  # a child that ended but was not waited for


def _stat(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0] if fields else ""


def _born(pid: int) -> str:
    """When a process began: ticks since boot on Linux, ``ps``'s date on macOS."""
    fields = _stat(pid)
    if fields:
        return fields[19]
    done = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def _open(url: str, opening: bool) -> None:
    """Open the browser where there is a desktop; a text browser in this terminal would be no help."""
    desktop = platform.system() == "Darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")
    )
    if opening and desktop and not webbrowser.open(url):
        say(f"Open this address in your browser: {url}", f"请在浏览器中打开:{url}")
