"""The command line on the stand-in flows, in this process or in one of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commands.main import main
from pipelines.flows import FLOWS
from tests.commands.flows import FLOWS as STAND_INS

STARTER = """
import sys
from commands.main import main
from pipelines.flows import FLOWS
from tests.commands.flows import FLOWS as STAND_INS
FLOWS.update(STAND_INS)
sys.exit(main(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.out))


Command = Callable[..., Answer]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with inputs, and data folders of the test's own."""
    work = tmp_path / "my films 片"
    work.mkdir()
    for name in ("a.mp4", "b.mp4", "talk 🎬.mp4", "s1.wav", "s2.wav"):
        (work / name).write_bytes(name.encode())
    (work / "broken.mp4").write_bytes(b"broken")
    monkeypatch.chdir(work)
    monkeypatch.setenv("DUBWRIGHT_HOME", str(tmp_path / "home"))
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    return work


@pytest.fixture
def command(home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run a command line on the stand-in flows."""
    for name, place in STAND_INS.items():
        monkeypatch.setitem(FLOWS, name, place)

    def run(*words: str) -> Answer:
        try:
            code = main(words)
        except SystemExit as leaving:  # argparse
            code = int(str(leaving.code))
        out, err = capfd.readouterr()
        return Answer(code, out, err)

    return run


def begin(*words: str, **how: Any) -> subprocess.Popen[str]:
    """Start a command line on the stand-in flows in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", STARTER, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**__import__("os").environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        **how,
    )
