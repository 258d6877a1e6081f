"""Real dubs of real clips, made once a test run: nothing here is mocked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipelines.backend.policy import Policy
from pipelines.dub import run
from pipelines.files import read_json
from pipelines.progress import NullReport
from pipelines.records import load_plan
from pipelines.registry import EngineContext
from pipelines.settings import Settings
from pipelines.types import DubPlan

ROOT = Path(__file__).parents[2]
TRANSLATIONS = Path(__file__).parent / "translations"


@dataclass(frozen=True)
class Dubbed:
    """A finished dub: its folder, what was asked, what the flow returned."""

    folder: Path
    options: dict[str, Any]
    result: dict[str, Any]
    context: EngineContext

    @property
    def plan(self) -> DubPlan:
        """The table as it stands."""
        return load_plan(self.folder / "lines.json")

    @property
    def report(self) -> dict[str, Any]:
        """The report."""
        found = read_json(self.folder / "report.json")
        assert isinstance(found, dict)
        return found

    def again(self, **changes: Any) -> Dubbed:
        """The same job run once more in the same folder, with other options."""
        options = {**self.options, **changes}
        result = run(self.folder, options, self.context, NullReport())
        return Dubbed(self.folder, options, result, self.context)


@dataclass(frozen=True)
class Typed:
    """``python app.py`` as a user types it, on data folders of the test run's own."""

    environment: dict[str, str]
    folder: Path

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Begin a command."""
        return subprocess.Popen(
            [sys.executable, str(ROOT / "app.py"), *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def dub(self, clip: Path, target: str, context: EngineContext, *flags: str) -> Dubbed:
        """Dub a clip to its end; the job's folder holds everything it made."""
        out = self.folder / f"{clip.stem}-{target}.mp4"
        running = self.start("dub", str(clip), "--to", target, "-o", str(out), "--json", *flags)
        said, errors = running.communicate()
        assert running.returncode == 0, errors
        (ending,) = json.loads(said)["results"]
        folder = Path(ending["folder"])
        assert Path(ending["files"]["video"]) == out and out.is_file()
        assert out.with_suffix(f".{target}.srt").is_file() and out.with_suffix(".source.srt").is_file()
        return Dubbed(folder, read_json(folder / "job.json")["options"], ending["result"], context)


@pytest.fixture(scope="session")
def dub_context(tmp_path_factory: pytest.TempPathFactory) -> EngineContext:
    """Real weights, everything else in a scratch folder with a name that needs care."""
    home = tmp_path_factory.mktemp("dub home 配音")
    settings = Settings.load({"DUBWRIGHT_HOME": str(home), "DUBWRIGHT_WEIGHTS": str(Settings.load().weights)})
    return EngineContext(settings, Policy(threads=2))


@pytest.fixture(scope="session")
def typed(dub_context: EngineContext, tmp_path_factory: pytest.TempPathFactory) -> Typed:
    """The command line, with the folders of ``dub_context``."""
    settings = dub_context.settings
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG"))},
        "DUBWRIGHT_HOME": str(settings.jobs.parent),
        "DUBWRIGHT_WEIGHTS": str(settings.weights),
        "LANG": "C.UTF-8",
    }
    return Typed(environment, tmp_path_factory.mktemp("typed"))


@pytest.fixture(scope="session")
def spanish(data: Path, dub_context: EngineContext, typed: Typed) -> Dubbed:
    """The 8 s close-up, English to Spanish by apertium."""
    if shutil.which("apertium") is None:
        pytest.skip("apertium with its English-Spanish pair is not installed (.ci/run installs it)")
    return typed.dub(data / "video/talk_512_8s.mp4", "es", dub_context)


@pytest.fixture(scope="session")
def chinese(data: Path, dub_context: EngineContext, typed: Typed) -> Dubbed:
    """The 20 s portrait clip of a man, English to Chinese from a subtitle file, over the original sound."""
    lines = str(TRANSLATIONS / "talk_room.zh.srt")
    flags = ("--translation", lines, "--keep-background", "--soft-subtitles", "--original-track")
    return typed.dub(data / "video/talk_room_20s.mp4", "zh", dub_context, *flags)


@pytest.fixture(scope="session")
def english(data: Path, dub_context: EngineContext, typed: Typed) -> Dubbed:
    """The 10 s portrait clip of a woman, Russian to English from a subtitle file."""
    lines = str(TRANSLATIONS / "talk_outdoor.en.srt")
    return typed.dub(data / "video/talk_outdoor_10s.mp4", "en", dub_context, "--translation", lines)
