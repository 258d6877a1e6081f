"""Choosing who of several people speaks: pictures of everybody, found once, and the choice as a job gets it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from imageio_ffmpeg import get_ffmpeg_exe
from PIL import Image

from pipelines.people import SIZE, portrait
from tests.ui.conftest import asking
from ui import people
from ui.people import PeopleHandlers
from ui.services import Services
from ui.tabs.talking_head import TalkingHeadHandlers

ENGLISH = asking()


@pytest.fixture
def pair(data: Path, tmp_path: Path) -> Path:
    """A woman, and a man who is there half of the time."""
    path = tmp_path / "zwei 人.mp4"
    graph = (
        "[0:v]trim=end_frame=20,setpts=PTS-STARTPTS,scale=300:300,setsar=1[a];"
        "[1:v]trim=end_frame=10,setpts=PTS-STARTPTS,scale=300:300,tpad=stop=10:color=gray,setsar=1[b];[a][b]hstack[v]"
    )
    clips = [
        part
        for name in ("talk_512_8s", "face_512_silent_3s")
        for part in ("-i", str(data / f"video/{name}.mp4"))
    ]
    command = [get_ffmpeg_exe(), "-v", "error", *clips, "-filter_complex", graph, "-map", "[v]", str(path)]
    subprocess.run(command, check=True)
    return path


def test_everybody_is_shown_with_their_share_of_the_time(
    services: Services, pair: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers = PeopleHandlers(services, "ui_people_main")
    gallery, who, forget = handlers.find(str(pair), None, ENGLISH)
    assert forget.visible
    shown = cast("Any", gallery.value)
    (hers, her_share), (his, his_share) = [(item["image"]["path"], item["caption"]) for item in shown]
    assert her_share == "1 · 100 %" and his_share in ("2 · 50 %", "2 · 45 %", "2 · 55 %")
    with Image.open(hers) as woman, Image.open(his) as man:
        assert woman.size == man.size == (SIZE, SIZE)
        assert np.abs(np.asarray(woman, float) - np.asarray(man, float)).mean() > 20
    assert [choice[1] for choice in who.choices] == [0, 1, 2] and who.choices[0][0].startswith(
        "The one whose mouth moves most"
    )
    monkeypatch.setattr(people, "run_aside", lambda *_: pytest.fail("looked for twice"))
    assert len(cast("Any", handlers.find(str(pair), None, ENGLISH)[0].value)) == 2
    (kept,) = (services.settings.cache / "faces").iterdir()
    told: list[str] = []
    monkeypatch.setattr(people.gr, "Info", told.append)
    assert not handlers.forget(str(pair), None, ENGLISH)[0].visible
    assert (
        not kept.exists()
        and not people._place(services, pair).exists()
        and pair.is_file()
        and "removed" in told[0]
    )
    given = {
        "file": str(pair), "path": "", "sound": str(pair), "words": "", "engine": "ownmouth", "fit": "loop",
        "offset": 0, "language": "en", "reference": None, "who": 2,
    }  # fmt: skip
    sent: list[Any] = []
    monkeypatch.setattr(type(services), "submit", lambda _, spec, **__: sent.append(spec) or "id")
    TalkingHeadHandlers(services).submit(**given)
    assert sent[0].options["who"] == 2


def test_a_face_at_the_edge_keeps_its_middle() -> None:
    frame = np.zeros((100, 160, 3), np.uint8)
    frame[:40, :40] = 200
    picture = portrait(frame, [0.0, 0.0, 40.0, 40.0])
    assert picture.shape == (SIZE, SIZE, 3) and picture[SIZE // 2, SIZE // 2].min() == 200
    assert picture[5, 5].min() == 200 and picture[-5, -5].max() == 0
