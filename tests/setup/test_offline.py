"""With the network cut off: a second start, its page, and one whole dub. A network namespace holds nothing but loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from pipelines import media, subtitles, weights
from pipelines.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
CUT_OFF = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
# Brings loopback up, makes sure that nothing else answers, and goes on to the command.
ENTER = """
import fcntl, os, socket, struct, sys
with socket.socket() as loopback:
    fcntl.ioctl(loopback, 0x8914, struct.pack("16sh14x", b"lo", 0x41))
try:
    socket.create_connection(("1.1.1.1", 53), 3)
except OSError:
    os.execvp(sys.argv[1], sys.argv[1:])
sys.exit("the network is not cut off")
"""
# Start in the background, read the page, stop; what a browser on this computer would do.
SECOND_START = """
import json, os, pathlib, re, subprocess, sys, time, urllib.request
started = time.monotonic()
done = subprocess.run(["bash", sys.argv[1], "--background", "--no-browser"], capture_output=True, text=True)
print(done.stdout, done.stderr)
assert done.returncode == 0
try:
    page = urllib.request.urlopen(re.search(r"http://\\S+", done.stdout)[0], timeout=30)
    print("page", page.status, "Dubwright" in page.read().decode(), f"after {time.monotonic() - started:.1f} s")
    pid = json.loads(pathlib.Path(os.environ["DUBWRIGHT_LOGS"], "server.json").read_text())["pid"]
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    print("loaded:", *[name for name in ("libtorch", "mediapipe", "libctranslate2", "onnxruntime") if name in maps], ".")
finally:
    subprocess.run(["bash", sys.argv[1], "--stop"], check=True)
"""
pytestmark = pytest.mark.may_skip  # a container may forbid namespaces
# Read by every interpreter of ours: notes each name that is looked up and each address that is called.
LISTEN_IN = """
import os, sys
def note(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in (None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0"):
        with open(os.environ["ASKED"], "a") as file:
            file.write(f"{host} {sys.argv[:3]}\\n")
sys.addaudithook(note)
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command without a network, with the folders of an installation of its own and the real weights."""
    probe = subprocess.run([*CUT_OFF, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"this system lets nobody make a network namespace: {probe.stderr.decode().strip()}")
    real = Settings.load()
    for item in ("whisper-base", "kokoro"):
        if not weights.present(real, item):
            pytest.skip(f"the default weights are not there: {item} (bash start_app.sh --setup-only)")
    folders = {
        f"DUBWRIGHT_{name.upper()}": str(tmp_path / name) for name in ("outputs", "jobs", "cache", "logs")
    }
    spy = tmp_path / "spy" / "sitecustomize.py"
    spy.parent.mkdir()
    spy.write_text(LISTEN_IN, encoding="utf-8")
    environment = {**os.environ, **folders, "DUBWRIGHT_WEIGHTS": str(real.weights)}
    environment |= {"PYTHONPATH": str(spy.parent), "ASKED": str(tmp_path / "asked.txt")}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*CUT_OFF, sys.executable, "-c", ENTER, *command],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip

    return run


def check_asked(folder: Path) -> None:
    """The one address called is that of ``ENTER``, which proves that the notes are taken; nothing else asked for anything."""
    asked = (folder / "asked.txt").read_text(encoding="utf-8").splitlines()
    assert {line.split()[0] for line in asked} == {"1.1.1.1"}, asked


@pytest.mark.slow
def test_a_second_start_needs_no_network(run: Run, tmp_path: Path) -> None:
    if not (ROOT / ".venv" / "bin" / "python").exists():
        pytest.skip("nothing was set up here: bash run_tests.sh makes .venv first")
    done = run(sys.executable, "-c", SECOND_START, str(ROOT / "start_app.sh"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "page 200 True" in done.stdout
    assert "loaded: ." in done.stdout, "the page's own process holds an engine"
    assert "install" not in done.stdout.lower(), done.stdout
    check_asked(tmp_path)


@pytest.mark.slow
def test_a_whole_dub_needs_no_network(run: Run, tmp_path: Path) -> None:
    if not shutil.which("apertium"):
        pytest.skip("apertium is not installed (apt install apertium-eng-spa)")
    clip, out = ROOT / "examples" / "talker.mp4", tmp_path / "out.mp4"
    done = run(sys.executable, str(ROOT / "app.py"), "dub", str(clip), "--to", "es", "-o", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    source, made = media.probe(clip), media.probe(out)
    assert (made.width, made.height, made.fps) == (source.width, source.height, Fraction(source.fps))
    assert abs(made.duration - source.duration) <= float(1 / source.fps) + 0.005
    assert len(made.audio) == 1
    assert len(" ".join(cue.text for cue in subtitles.read(out.with_suffix(".es.srt"))).split()) >= 4
    check_asked(tmp_path)
