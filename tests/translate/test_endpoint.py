"""The language model as translator, against a real service on this computer that behaves well and badly."""

from __future__ import annotations

import socket
import time
from dataclasses import replace

import pytest

from pipelines.errors import OptionError, ResourceError, Stopped, TranslatorMissing
from pipelines.progress import NullReport
from pipelines.registry import EngineContext
from pipelines.translate import service as service_module
from pipelines.translate.endpoint import Endpoint
from pipelines.translate.options import EndpointOptions
from tests.translate.conftest import Notes, Numbered, Service

LINES = ["Good morning to all of you.", "", "We take 25 trains to Shanghai.", "And then we go home."]


@pytest.fixture
def endpoint(context: EngineContext, service: Service, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setattr(service_module.ChatService.__init__, "__defaults__", (0.01,))
    engine = Endpoint(context)
    engine.use(EndpointOptions(service.address, "m"))
    return engine


def test_line_for_line_with_empty_lines_kept(endpoint: Endpoint, service: Service) -> None:
    report = Notes()
    done = endpoint.translate(LINES, "en", "es", report)
    assert done == [f"traducido {line}" if line else "" for line in LINES]
    assert len(service.asked) == 1
    assert service.lines(0) == {1: LINES[0], 3: LINES[2], 4: LINES[3]}
    system = service.asked[0]["messages"][0]["content"]
    assert "English to Spanish" in system
    assert service.asked[0]["model"] == "m"
    assert report.steps[-1] == (4, 4)
    assert report.notes == []


def test_missing_lines_are_asked_for_again(endpoint: Endpoint, service: Service) -> None:
    def forgetful(lines: Numbered) -> str:
        kept = list(lines.items())[:-1] if len(lines) > 1 else lines.items()
        return "Here you are:\n\n" + "\n".join(f"{n}) traducido {text}" for n, text in kept)

    service.reply = forgetful
    assert endpoint.translate(LINES, "en", "es", NullReport())[3] == "traducido And then we go home."
    assert list(service.lines(1)) == [4]


def test_a_model_that_never_gives_a_line_is_named(endpoint: Endpoint, service: Service) -> None:
    service.reply = lambda lines: "\n".join(f"{n}. traducido {t}" for n, t in lines.items() if n != 3)
    with pytest.raises(ResourceError, match="left out line 3"):
        endpoint.translate(LINES, "en", "es", NullReport())


def test_trouble_that_passes_is_waited_out(endpoint: Endpoint, service: Service) -> None:
    service.statuses = [500, 429, 503]
    assert endpoint.translate(LINES[:1], "en", "es", NullReport()) == [
        "traducido Good morning to all of you."
    ]
    assert len(service.asked) == 4


def test_trouble_that_stays_is_told_without_the_key(endpoint: Endpoint, service: Service) -> None:
    key = "sk-very-secret"
    endpoint.use(EndpointOptions(service.address, "m", key))
    service.statuses = [500] * 9
    with pytest.raises(ResourceError, match="answers 500") as caught:
        endpoint.translate(LINES, "en", "es", NullReport())
    assert service.keys[0] == f"Bearer {key}"
    assert key not in str(caught.value) + repr(caught.value) + str(caught.value.record())
    assert key not in repr(endpoint.options)
    assert len(service.asked) == service_module.TRIES


def test_a_refused_key_is_not_tried_again(endpoint: Endpoint, service: Service) -> None:
    service.key = "right"
    endpoint.use(EndpointOptions(service.address, "m", "wrong"))
    with pytest.raises(ResourceError, match="refuses the key"):
        endpoint.translate(LINES, "en", "es", NullReport())
    assert len(service.asked) == 1


def test_nobody_at_the_address(endpoint: Endpoint) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint.use(EndpointOptions(f"127.0.0.1:{free.getsockname()[1]}", "m"))
        with pytest.raises(ResourceError, match="nothing answers"):
            endpoint.translate(LINES, "en", "es", NullReport())


def test_a_slow_answer_runs_out_of_time(endpoint: Endpoint, service: Service) -> None:
    service.seconds = 1.0
    endpoint.use(EndpointOptions(service.address, "m", timeout=0.1))
    with pytest.raises(ResourceError, match="no answer within"):
        endpoint.translate(LINES, "en", "es", NullReport())


def test_stop_does_not_wait_for_a_slow_answer(endpoint: Endpoint, service: Service) -> None:
    service.seconds = 5.0

    class StopSoon(NullReport):
        until = time.monotonic() + 0.5

        def step(self, stage: str, done: float, total: float | None = None, unit: str = "") -> None:
            if time.monotonic() > self.until:
                raise Stopped()

    began = time.monotonic()
    with pytest.raises(Stopped):
        endpoint.translate(LINES, "en", "es", StopSoon())
    assert time.monotonic() - began < 3.0


def test_lines_left_as_they_were_are_asked_for_again_and_named(endpoint: Endpoint, service: Service) -> None:
    service.reply = lambda lines: "\n".join(
        f"{n}. {t}" if n == 1 else f"{n}. traducido {t.replace('25', 'veinticinco')}"
        for n, t in lines.items()
    )
    report = Notes()
    done = endpoint.translate(LINES, "en", "es", report)
    assert done[0] == LINES[0]
    assert sorted(service.lines(1)) == [1, 3]
    assert any(note.startswith("Line 1: untranslated") for note in report.notes)
    assert any(note.startswith("Line 3: numbers lost") for note in report.notes)


def test_the_wrong_language_is_seen_by_its_script(endpoint: Endpoint, service: Service) -> None:
    service.reply = lambda lines: "\n".join(f"{n}. traducido {t}" for n, t in lines.items())
    report = Notes()
    endpoint.translate(LINES, "en", "zh", report)
    assert any(note.startswith("Line 1, 3-4: wrong script") for note in report.notes)


def test_thoughts_fences_and_quotes_are_taken_off(endpoint: Endpoint, service: Service) -> None:
    service.reply = lambda lines: (
        "<think>1. hmm\n2. well</think>\n```\n"
        + "\n".join(f'{n}. "traducido {t}"' for n, t in lines.items())
        + "\n```"
    )
    assert endpoint.translate(LINES[:1], "en", "es", NullReport()) == [
        "traducido Good morning to all of you."
    ]


def test_a_long_talk_goes_in_parts_with_what_came_before(endpoint: Endpoint, service: Service) -> None:
    talk = [f"This is sentence number {number} of the talk." for number in range(1, 101)]
    done = endpoint.translate(talk, "en", "es", NullReport())
    assert done == [f"traducido {line}" for line in talk]
    assert len(service.asked) == 3
    assert "sentence number 40 of the talk. => traducido" in service.asked[1]["messages"][-1]["content"]


def test_the_first_model_is_taken_when_none_is_named(endpoint: Endpoint, service: Service) -> None:
    endpoint.use(replace(endpoint.options, model=""))
    endpoint.translate(LINES, "en", "es", NullReport())
    assert service.asked[0]["model"] == "small-model"


def test_no_address_and_a_wrong_one(endpoint: Endpoint) -> None:
    endpoint.use(EndpointOptions())
    with pytest.raises(TranslatorMissing, match="DUBWRIGHT_ENDPOINT"):
        endpoint.translate(LINES, "en", "es", NullReport())
    endpoint.use(EndpointOptions("ftp://somewhere"))
    with pytest.raises(OptionError, match="address"):
        endpoint.translate(LINES, "en", "es", NullReport())


def test_addresses_as_people_write_them() -> None:
    for address in ("127.0.0.1:1234", "http://127.0.0.1:1234/", "http://127.0.0.1:1234/v1/chat/completions"):
        assert EndpointOptions(address).base == "http://127.0.0.1:1234/v1"
    assert EndpointOptions("https://a.example/api/openai").base == "https://a.example/api/openai"


def test_the_key_goes_only_where_it_belongs() -> None:
    env = {
        "DUBWRIGHT_ENDPOINT": "https://a.example/v1",
        "DUBWRIGHT_ENDPOINT_KEY": "k",
        "DUBWRIGHT_ENDPOINT_MODEL": "m",
    }
    assert EndpointOptions.read(None, env) == EndpointOptions("https://a.example/v1", "m", "k")
    assert EndpointOptions.read({"address": "https://a.example", "model": "x"}, env).key == "k"
    assert EndpointOptions.read({"address": "https://other.example/v1"}, env).key == ""
    del env["DUBWRIGHT_ENDPOINT"]
    assert EndpointOptions.read({"address": "https://other.example/v1"}, env).key == "k"
