"""A language model's service on this computer that answers, misbehaves and remembers what it was asked."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pipelines.backend.policy import Policy
from pipelines.errors import Message
from pipelines.progress import NoteLevel, NullReport
from pipelines.registry import EngineContext
from pipelines.settings import Settings

Numbered = dict[int, str]


@dataclass
class Service:
    """``reply`` makes the answer's text from the numbered lines of a question; ``statuses`` are used up first."""

    reply: Callable[[Numbered], str]
    statuses: list[int] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    key: str | None = None
    seconds: float = 0.0
    address: str = ""

    def lines(self, number: int = -1) -> Numbered:
        """The numbered lines of one question."""
        question = self.asked[number]["messages"][-1]["content"]
        return {int(n): text for n, text in re.findall(r"^(\d+)\. (.*)$", question, re.MULTILINE)}


@pytest.fixture
def service() -> Iterator[Service]:
    """Turns every line into Spanish-looking text unless a test changes ``reply``."""
    state = Service(lambda lines: "\n".join(f"{n}. traducido {text}" for n, text in lines.items()))

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def _send(self, status: int, body: Any) -> None:
            data = json.dumps(body).encode() if not isinstance(body, bytes) else body
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self._send(200, {"data": [{"id": "small-model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.asked.append(body)
            state.keys.append(self.headers.get("Authorization"))
            time.sleep(state.seconds)
            if state.key and self.headers.get("Authorization") != f"Bearer {state.key}":
                self._send(401, {"error": "bad key"})
            elif state.statuses:
                status = state.statuses.pop(0)
                self._send(status, {"error": f"trouble with {self.headers.get('Authorization')}"})
            else:
                self._send(200, {"choices": [{"message": {"content": state.reply(state.lines())}}]})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield state
    server.shutdown()
    server.server_close()


@pytest.fixture
def context(settings: Settings) -> EngineContext:
    return EngineContext(settings, Policy())


class Notes(NullReport):
    """Keeps steps and notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.steps: list[tuple[float, float | None]] = []

    def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
        assert stage == "translate"
        self.steps.append((done, total))

    def note(self, message: Message, level: NoteLevel = "hint") -> None:
        assert message.zh
        self.notes.append(message.en)
