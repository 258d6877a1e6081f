"""Real dubs of real clips, made once a test run: nothing here is mocked."""

from __future__ import annotations

import shutil
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


@pytest.fixture(scope="session")
def dub_context(tmp_path_factory: pytest.TempPathFactory) -> EngineContext:
    """Real weights, everything else in a scratch folder with a name that needs care."""
    home = tmp_path_factory.mktemp("dub home 配音")
    settings = Settings.load({"DUBWRIGHT_HOME": str(home), "DUBWRIGHT_WEIGHTS": str(Settings.load().weights)})
    return EngineContext(settings, Policy(threads=2))


def make_dub(folder: Path, context: EngineContext, **options: Any) -> Dubbed:
    """Run the flow in this process."""
    result = run(folder, options, context, NullReport())
    return Dubbed(folder, options, result, context)


@pytest.fixture(scope="session")
def spanish(data: Path, dub_context: EngineContext, tmp_path_factory: pytest.TempPathFactory) -> Dubbed:
    """The 8 s close-up, English to Spanish by apertium."""
    if shutil.which("apertium") is None:
        pytest.skip("apertium with its English-Spanish pair is not installed (.ci/run installs it)")
    folder = tmp_path_factory.mktemp("es")
    clip = data / "video/talk_512_8s.mp4"
    return make_dub(folder, dub_context, input=str(clip), target_language="es")


@pytest.fixture(scope="session")
def chinese(data: Path, dub_context: EngineContext, tmp_path_factory: pytest.TempPathFactory) -> Dubbed:
    """The 20 s portrait clip of a man, English to Chinese from a subtitle file."""
    folder = tmp_path_factory.mktemp("zh")
    return make_dub(
        folder,
        dub_context,
        input=str(data / "video/talk_room_20s.mp4"),
        target_language="zh",
        translation=str(TRANSLATIONS / "talk_room.zh.srt"),
        keep_background=True,
    )


@pytest.fixture(scope="session")
def english(data: Path, dub_context: EngineContext, tmp_path_factory: pytest.TempPathFactory) -> Dubbed:
    """The 10 s portrait clip of a woman, Russian to English from a subtitle file."""
    folder = tmp_path_factory.mktemp("en")
    return make_dub(
        folder,
        dub_context,
        input=str(data / "video/talk_outdoor_10s.mp4"),
        target_language="en",
        translation=str(TRANSLATIONS / "talk_outdoor.en.srt"),
    )
