"""A checkout of our own with stand-ins for uv and the cards' tools, which record what they were asked."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pipelines.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
SHELL_TOOLS = ("bash", "sh", "dirname", "readlink", "cat", "sort", "sed", "env", "mkdir", "rm", "ps")

UV = """#!{python}
import json, os, pathlib, sys
arguments = sys.argv[1:]
if arguments == ["--version"]:
    print("uv 0.0.0 (stand-in)")
    sys.exit()
files = {{a: pathlib.Path(a).read_text() for f, a in zip(arguments, arguments[1:]) if f in ("-r", "-c")}}
with open({log!r}, "a") as log:
    log.write(json.dumps({{"arguments": arguments, "files": files, "mirror": os.environ.get("UV_DEFAULT_INDEX")}}) + "\\n")
if arguments[0] == "venv":
    folder = pathlib.Path(arguments[-1])
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    python = folder / "bin" / "python"
    python.write_text({interpreter!r})
    python.chmod(0o755)
if arguments[0] == "pip":
    sys.exit(int(os.environ.get("UV_FAILS", "0")))
"""
# The environment's python: knows what torch build it "has", takes everything else to the real interpreter.
INTERPRETER = """#!/bin/sh
case "$*" in
  *torchaudio*) echo "${{TORCH_ANSWER:-[\\"2.11.0\\", null, null, \\"2.11.0\\"]}}"; exit 0;;
  *librosa*|*pipelines.fetch*|*backend.probe*) exit 0;;
esac
exec {python} "$@"
"""


@dataclass
class Checkout:
    """A checkout in a folder of its own and the PATH of a bare computer with some tools put onto it."""

    root: Path
    tools: Path
    log: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def calls(self) -> list[dict[str, object]]:
        """What uv was asked, in order."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]

    def tool(self, name: str, script: str) -> Path:
        """Put an executable onto PATH."""
        path = self.tools / name
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)
        return path


def link_tools(folder: Path) -> None:
    """Link the shell's own tools into a folder that then is the whole PATH."""
    for name in SHELL_TOOLS:
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """The launcher with real requirement files, a stand-in for uv, and nothing else on PATH."""
    root, tools = tmp_path / "Dubwright 配音 🎬", tmp_path / "tools"
    root.mkdir()
    tools.mkdir()
    link_tools(tools)
    for path in [*ROOT.glob("requirements*.txt"), ROOT / "constraints.txt", ROOT / "start_app.sh"]:
        shutil.copy(path, root / path.name)
    shutil.copytree(ROOT / "launcher", root / "launcher", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "pipelines").symlink_to(ROOT / "pipelines")
    made = Checkout(root, tools, tmp_path / "uv.jsonl")
    interpreter = INTERPRETER.format(python=sys.executable)
    made.tool("uv", UV.format(python=sys.executable, log=str(made.log), interpreter=interpreter))
    made.tool("python3.11", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    made.environment = {
        "PATH": str(tools),
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "DUBWRIGHT_LOGS": str(tmp_path / "logs"),
        "DUBWRIGHT_CACHE": str(tmp_path / "cache"),
        "DUBWRIGHT_WEIGHTS": str(Settings.load().weights),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name in (
        "PIP_INDEX_URL",
        "UV_DEFAULT_INDEX",
        "UV_INDEX_URL",
        "LC_ALL",
        "LC_MESSAGES",
        "PYENV_ROOT",
        "XDG_DATA_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    assert os.environ["PATH"] == str(tools)
    return made
