"""Live hearing on the page: the browser's microphone, a worker process for each session, and the text as it is heard."""

from __future__ import annotations

import base64
import contextlib
import shutil
import subprocess
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np

from pipelines.errors import InputError, Message, PipelineError
from pipelines.files import write_json
from pipelines.jobs.deaths import diagnose
from pipelines.jobs.folder import JobFolder, read_state, tail
from pipelines.jobs.process import descendants, kill_all, start_worker
from pipelines.jobs.worker import write_context
from pipelines.settings import Settings
from ui.i18n import language_of, text
from ui.machine import Machine

FOLDER = Path(__file__).resolve().parent
FLOW = "pipelines.live.flow:run"
RATE = 16_000
MOST = 2  # sessions at once: each holds a model
FORGOTTEN = 60.0  # seconds without sound after which a session is over: the page was closed
LEFT = 86_400.0  # seconds after which a session's folder belongs to nobody
MOST_BYTES = 4_000_000  # of one piece of sound


@dataclass(slots=True)
class _Session:
    folder: Path
    process: subprocess.Popen[bytes]
    resampler: Any = None
    rate: int = RATE
    last: float = field(default_factory=time.monotonic)


class LiveSessions:
    """The sessions of all pages, by their secret ids."""

    def __init__(self, settings: Settings, machine: Machine) -> None:
        self._settings, self._machine = settings, machine
        self._sessions: dict[str, _Session] = {}
        self._guard = threading.Lock()
        self._clear_left()

    def _clear_left(self) -> None:
        """Remove the sound of sessions whose page was killed; those of the last day may belong to a page that runs."""
        for folder in (self._settings.cache / "live").glob("*"):
            if time.time() - folder.stat().st_mtime > LEFT:
                shutil.rmtree(folder, ignore_errors=True)

    def begin(self, engine: str, language: str) -> str:
        """Start a worker; returns the session's id.

        Raises:
            InputError: as many as this computer takes are going on.
        """
        self._sweep()
        with self._guard:
            if sum(one.process.poll() is None for one in self._sessions.values()) >= MOST:
                raise InputError(
                    Message("Somebody is being heard already", "已有实时识别正在进行"),
                    Message("Stop it in the other window first.", "请先在其他窗口停止。"),
                )
            name = uuid.uuid4().hex
            folder = JobFolder(self._settings.cache / "live" / name)
            folder.scratch.mkdir(parents=True)
            folder.heartbeat.touch()
            write_json(folder.job, {"options": {"engine": engine, "language": language or None}})
            policy = self._machine.policy
            write_context(folder, self._settings, policy)
            environment = {**policy.environment, "TMPDIR": str(folder.scratch)}
            self._sessions[name] = _Session(
                folder.path, start_worker(folder.path, FLOW, folder.log, environment)
            )
            return name

    def hear(self, name: str, rate: int, sound: bytes) -> dict[str, Any]:
        """Hand over 16-bit mono sound at a rate; returns what was heard so far.

        Raises:
            InputError: there is no such session. WorkerDied: its process ended.
        """
        session = self._find(name)
        session.last = time.monotonic()
        samples = np.frombuffer(sound[: len(sound) // 2 * 2], np.int16)
        if int(rate) != RATE and len(samples):
            samples = self._resampled(session, int(rate), samples)
        with (session.folder / "sound.pcm").open("ab") as file:
            file.write(samples.tobytes())
        return self._heard(session)

    def finish(self, name: str) -> dict[str, Any]:
        """No more sound comes; returns what was heard, ``ended`` when that is all.

        Raises:
            As ``hear``.
        """
        session = self._find(name)
        (session.folder / "ended").touch()
        return self._heard(session)

    def recording(self, name: str, folder: Path) -> Path:
        """The sound of a session as a WAV file below ``folder``.

        Raises:
            InputError: there is no such session.
        """
        session = self._find(name)
        import wave

        path = folder / f"live-{name[:12]}" / time.strftime("live %Y-%m-%d %H.%M.%S.wav")
        path.parent.mkdir(parents=True, exist_ok=True)
        with wave.open(str(path), "wb") as out, (session.folder / "sound.pcm").open("rb") as sound:
            out.setparams((1, 2, RATE, 0, "NONE", ""))
            while block := sound.read(1 << 20):
                out.writeframes(block)
        return path

    def close(self) -> None:
        """End all sessions; their sound goes with them, but for what was kept as a recording."""
        with self._guard:
            for session in self._sessions.values():
                self._end(session)
                shutil.rmtree(session.folder, ignore_errors=True)

    def _find(self, name: str) -> _Session:
        session = self._sessions.get(str(name))
        if session is None:
            raise InputError(
                Message("This recording is over", "该录音已结束"),
                Message("Start again.", "请重新开始。"),
            )
        return session

    def _resampled(self, session: _Session, rate: int, samples: Any) -> Any:
        import soxr

        if session.resampler is None or session.rate != rate:
            session.resampler, session.rate = soxr.ResampleStream(rate, RATE, 1, dtype="int16"), rate
        return session.resampler.resample_chunk(samples)

    def _heard(self, session: _Session) -> dict[str, Any]:
        heard = read_state(session.folder / "heard.json")
        if session.process.poll() is not None and not heard.get("ended"):
            folder = JobFolder(session.folder)
            outcome = read_state(folder.outcome)
            if outcome.get("error"):
                raise PipelineError.from_record(outcome["error"])
            raise diagnose(session.process.returncode, tail(folder.log))
        return heard

    def _sweep(self) -> None:
        """End sessions whose page is gone."""
        with self._guard:
            for session in self._sessions.values():
                if time.monotonic() - session.last > FORGOTTEN:
                    self._end(session)

    def _end(self, session: _Session) -> None:
        with contextlib.suppress(OSError):
            (session.folder / "ended").touch()
        if session.process.poll() is None:
            kill_all(session.process.pid, descendants(session.process.pid))
            session.process.wait()
        if session.process.stdin:
            session.process.stdin.close()


def texts(language: str) -> dict[str, str]:
    """What the component says."""
    names = ("start", "stop", "keep", "loading", "listening", "rest", "over", "refused", "lost")
    return {name: text(language, f"ui_live_{name}") for name in names}


def component(sessions: LiveSessions) -> gr.HTML:
    """The microphone and the text; its functions are called by the script in the browser."""

    # Gradio hands over one value a call.
    def begin(given: dict[str, Any], request: gr.Request) -> dict[str, Any]:
        engine, language = str(given["engine"]), str(given["language"] or "")
        return _said(lambda: {"session": sessions.begin(engine, language)}, request)

    def hear(given: dict[str, Any], request: gr.Request) -> dict[str, Any]:
        sound = base64.b64decode(str(given["sound"])[:MOST_BYTES])
        return _said(lambda: sessions.hear(str(given["session"]), int(given["rate"]), sound), request)

    def finish(given: dict[str, Any], request: gr.Request) -> dict[str, Any]:
        return _said(lambda: sessions.finish(str(given["session"])), request)

    return gr.HTML(
        value={"texts": {}, "engine": "", "language": ""},
        html_template=(FOLDER / "live.html").read_text(encoding="utf-8"),
        js_on_load=(FOLDER / "live.js").read_text(encoding="utf-8"),
        server_functions=[begin, hear, finish],
        apply_default_css=False,
        elem_id="live",
    )


def _said(action: Any, request: gr.Request | None) -> dict[str, Any]:
    """The answer, or the error as a sentence in the browser's language."""
    try:
        return dict(action())
    except PipelineError as error:
        return {"error": error.sentence(language_of(request))}
