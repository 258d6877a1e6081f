"""start_app.sh from the outside: finding Python, starting, waiting, ports, background and stop."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from launcher.backends import choose_backend
from launcher.environment import Plan, set_up
from launcher.page import Address, answers, choose_port
from launcher.words import LauncherError
from pipelines.backend.hardware import Hardware
from tests.setup.conftest import Checkout

APP = """
import http.server, sys, time
if "--broken" in sys.argv:
    print("Error: the option --broken is broken.")
    sys.exit(2)
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()
    def log_message(self, *_): pass
host, port = sys.argv[sys.argv.index("--listen") + 1], int(sys.argv[sys.argv.index("--port") + 1])
print("arguments", sys.argv[1:], flush=True)
time.sleep(0.5)
http.server.ThreadingHTTPServer((host, port), Page).serve_forever()
"""


@pytest.fixture
def ready(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> Iterator[Checkout]:
    """A checkout that is set up, with a small page in place of app.py; whatever it started is stopped at the end."""
    monkeypatch.setattr("launcher.room.reachable", lambda *_a, **_k: True)
    monkeypatch.setattr("launcher.room.online", lambda: True)
    set_up(Plan(checkout.root, checkout.root / ".venv", choose_backend(Hardware())))
    (checkout.root / "app.py").write_text(APP, encoding="utf-8")
    yield checkout
    run(checkout, "--stop")


def run(checkout: Checkout, *flags: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(checkout.root / "start_app.sh"), *flags]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=checkout.environment,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )


def url_in(text: str) -> str:
    return next(word for word in text.replace("\n", " ").split() if word.startswith("http://127.0.0.1:"))


@pytest.fixture
def taken() -> Iterator[int]:
    """A port with somebody else's server on it."""
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


# --------------------------------------------------------------------------------------------- finding Python


def search(checkout: Checkout) -> subprocess.CompletedProcess[str]:
    script = ". launcher/find_python.sh; find_python && echo $PYTHON"
    return subprocess.run(
        ["bash", "-c", script], cwd=checkout.root, capture_output=True, text=True, env=checkout.environment
    )


def test_a_name_on_path_that_does_not_run_is_passed_over(checkout: Checkout) -> None:
    checkout.tool("python3.11", "#!/bin/sh\necho 'pyenv: python3.11: command not found' >&2\nexit 127\n")
    checkout.tool("python3.12", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    assert search(checkout).stdout.strip() == "python3.12"


def test_a_python_of_another_version_is_passed_over(checkout: Checkout) -> None:
    (checkout.tools / "python3.11").unlink()
    checkout.tool("python3", "#!/bin/sh\nexit 1\n")  # what the version question answers on 3.13
    inside = Path(checkout.environment["HOME"]) / ".pyenv/versions/3.12.1/bin/python"
    inside.parent.mkdir(parents=True)
    inside.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    inside.chmod(0o755)
    assert search(checkout).stdout.strip() == str(inside)


def test_pythons_that_uv_manages_are_found(checkout: Checkout) -> None:
    (checkout.tools / "python3.11").unlink()
    inside = (
        Path(checkout.environment["HOME"])
        / ".local/share/uv/python/cpython-3.12.9-linux-x86_64-gnu/bin/python"
    )
    inside.parent.mkdir(parents=True)
    inside.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    inside.chmod(0o755)
    assert search(checkout).stdout.strip() == str(inside)


def without_python(checkout: Checkout) -> None:
    """No Python that fits anywhere: names on PATH and the usual places all answer no."""
    (checkout.tools / "python3.11").unlink()
    script = checkout.root / "launcher" / "find_python.sh"
    text = script.read_text(encoding="utf-8")
    for place in ("/usr/bin/python3.1[12]", "/usr/local/bin/python3.1[12]", "/opt/python*/bin/python3.1[12]"):
        assert place in text
        text = text.replace(place, "/nowhere/python")
    script.write_text(text, encoding="utf-8")


def test_without_python_the_exact_commands_are_shown(checkout: Checkout) -> None:
    without_python(checkout)
    done = run(checkout)
    assert done.returncode == 3
    assert "needs Python 3.11 or 3.12" in done.stderr and "需要 Python 3.11 或 3.12" in done.stderr
    assert (
        "sudo apt install python3.12 python3.12-venv" in done.stderr
        and "uv python install 3.12" in done.stderr
    )
    assert not (checkout.root / ".venv").exists()


def test_uv_gets_a_python_when_the_user_agrees(checkout: Checkout) -> None:
    without_python(checkout)
    got, asked = checkout.tools / "gotten", checkout.log
    checkout.tool(
        "uv",
        f"""#!/bin/sh
echo "$@" >> "{asked}"
case "$*" in
  "python install 3.12") printf '#!/bin/sh\\nexec {sys.executable} "$@"\\n' > "{got}"; chmod +x "{got}";;
  "python find 3.12") echo "{got}";;
esac
""",
    )
    checkout.environment["PATH"] += (
        ":/usr/bin:/bin" if not shutil.which("chmod", path=str(checkout.tools)) else ""
    )
    done = subprocess.run(
        ["bash", "-c", ". launcher/find_python.sh; offer_python --yes && echo got $PYTHON"],
        cwd=checkout.root, capture_output=True, text=True, env=checkout.environment,
    )  # fmt: skip
    assert f"got {got}" in done.stdout
    assert asked.read_text(encoding="utf-8").splitlines() == [
        "--version",
        "python install 3.12",
        "python find 3.12",
    ]


# ------------------------------------------------------------------------------------------- starting the page


def test_background_start_second_start_and_stop(ready: Checkout) -> None:
    first = run(ready, "--background", "--no-browser", "--debug", "--device", "cpu")
    assert first.returncode == 0, first.stderr
    url = url_in(first.stdout)
    assert answers(url) and ready.environment["DUBWRIGHT_LOGS"] in first.stdout
    log = Path(ready.environment["DUBWRIGHT_LOGS"]) / "start.log"
    assert "'--debug', '--device', 'cpu'" in log.read_text(encoding="utf-8"), "flags of app.py are passed on"
    again = run(ready, "--background", "--no-browser")
    assert again.returncode == 0 and "running already" in again.stdout and url_in(again.stdout) == url
    stopped = run(ready, "--stop")
    assert "has stopped" in stopped.stdout and not answers(url)
    assert "not running" in run(ready, "--stop").stdout


def test_a_stale_note_of_a_dead_page_is_not_believed(ready: Checkout) -> None:
    """The number in the note belongs to another process now: it is neither 'running' nor killed."""
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        note = Path(ready.environment["DUBWRIGHT_LOGS"]) / "server.json"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(
            json.dumps({"pid": bystander.pid, "url": "http://127.0.0.1:1/", "born": "1"}), encoding="utf-8"
        )
        assert "not running" in run(ready, "--stop").stdout
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("how", ["ctrl-c", "kill"])
def test_foreground_serves_until_it_is_ended(ready: Checkout, how: str) -> None:
    process = subprocess.Popen(
        ["bash", str(ready.root / "start_app.sh"), "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        env=ready.environment,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        # a test run in the background ignores Ctrl-C, and what it starts would too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if "is ready" in line:
            break
    url = url_in("".join(lines))
    assert answers(url)
    if how == "ctrl-c":
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.terminate()
    process.communicate(timeout=30)
    assert not answers(url)
    assert how == "kill" or process.returncode == 0


def test_a_taken_port_moves_to_the_next_and_one_asked_for_is_refused(ready: Checkout, taken: int) -> None:
    refused = run(ready, "--port", str(taken), "--no-browser", "--background")
    assert refused.returncode == 2
    assert f"Port {taken} is taken" in refused.stderr and "bash start_app.sh --port" in refused.stderr
    moved = run(ready, "--port", str(taken), "--yes", "--no-browser", "--background")
    assert moved.returncode == 0 and not url_in(moved.stdout).startswith(f"http://127.0.0.1:{taken}/")


def test_ports_that_are_none(taken: int) -> None:
    assert choose_port(Address("127.0.0.1", None)) >= 7860
    for port in (0, 70000):
        with pytest.raises(LauncherError, match="not a port"):
            choose_port(Address("127.0.0.1", port))
    with pytest.raises(LauncherError, match="next free one"):
        choose_port(Address("127.0.0.1", taken))


def test_a_page_that_ends_at_once_is_explained(ready: Checkout) -> None:
    done = run(ready, "--background", "--no-browser", "--broken")
    assert done.returncode == 2
    assert (
        "ended while starting (exit code 2)" in done.stderr and "the option --broken is broken" in done.stderr
    )


def test_the_demo_flag_opens_the_demo_project() -> None:
    assert Address("0.0.0.0", None, True).url(7861) == "http://127.0.0.1:7861/?demo=1"
    assert Address("::1", None).url(7861) == "http://[::1]:7861/"


def test_help_lists_every_flag(ready: Checkout) -> None:
    text = run(ready, "--help").stdout
    flags = (
        "--backend",
        "--setup-only",
        "--check",
        "--background",
        "--stop",
        "--demo",
        "--no-browser",
        "--port",
        "--listen",
    )
    assert [flag for flag in flags if flag not in text] == []
    assert "--safe-mode" in text and "--auth" in text


def test_check_before_set_up_says_what_would_be_installed(checkout: Checkout) -> None:
    done = run(checkout, "--check")
    assert done.returncode == 1
    assert "not set up yet" in done.stdout and "cpu" in done.stdout
    assert not (checkout.root / ".venv").exists()


def test_another_servers_answer_is_not_taken_for_the_page(taken: int) -> None:
    start = time.monotonic()
    assert not answers(f"http://127.0.0.1:{taken}/") and time.monotonic() - start < 10
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"http://127.0.0.1:{taken}/healthz", timeout=5)
