"""Talking to an OpenAI-compatible service: one question, one answer, with retries and without showing the key."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from pipelines.attentive import attended
from pipelines.errors import Message, OptionError, ResourceError
from pipelines.translate.options import EndpointOptions

TRIES = 4
FIRST_WAIT = 0.5  # seconds before the second try; doubled each time
WAIT_AND_SEE = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ChatService:
    """One conversation partner; a context manager that closes its connections.

    Raises (from ``ask`` and ``model``):
        OptionError: the address is none. ResourceError: it cannot be reached, refuses, or keeps failing.
    """

    def __init__(
        self, options: EndpointOptions, look: Callable[[], None], first_wait: float = FIRST_WAIT
    ) -> None:
        self._options, self._look, self._first_wait = options, look, first_wait
        parts = urlsplit(options.base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise OptionError(
                Message("The address of the language model is not one", "语言模型地址无效"),
                Message("It looks like http://127.0.0.1:11434/v1.", "格式如 http://127.0.0.1:11434/v1。"),
                options.address,
            )
        headers = {"Authorization": f"Bearer {options.key}"} if options.key else {}
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(options.timeout, connect=10.0),
            trust_env=parts.hostname
            not in LOOPBACK,  # a proxy of the environment knows nothing of this computer
        )
        self._model = options.model

    def __enter__(self) -> ChatService:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, messages: list[dict[str, str]]) -> str:
        """The assistant's answer to a conversation (``role``/``content`` records)."""
        body = {"model": self.model(), "messages": messages, "temperature": 0.2, "stream": False}
        answer = self._call("POST", "/chat/completions", body)
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise self._failed("its answer has no text in it") from None
        return content if isinstance(content, str) else ""

    def model(self) -> str:
        """The model asked for, else the first one the service lists."""
        if not self._model:
            answer = self._call("GET", "/models", None)
            try:
                self._model = str(answer["data"][0]["id"])
            except (KeyError, IndexError, TypeError):
                raise OptionError(
                    Message("The service names no model", "该服务没有列出任何模型"),
                    Message("Give the model's name.", "请填写模型名称。"),
                    self._options.base,
                ) from None
        return self._model

    def _call(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        """One request with retries on trouble that may pass."""
        trouble = ""
        for attempt in range(TRIES):
            if attempt:
                self._pause(self._first_wait * 2 ** (attempt - 1))
            try:
                response = attended(
                    lambda: self._client.request(method, self._options.base + path, json=body), self._look
                )
            except httpx.ConnectError:
                trouble = "nothing answers there"
                continue
            except httpx.TimeoutException:
                trouble = f"no answer within {self._options.timeout:.0f} s"
                continue
            except httpx.HTTPError as error:
                trouble = f"the connection broke ({type(error).__name__})"
                continue
            if response.status_code in WAIT_AND_SEE:
                trouble = f"it answers {response.status_code}: {self._words(response)}"
                continue
            return self._read(response)
        raise self._failed(trouble)

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        if response.status_code in (401, 403):
            raise ResourceError(
                Message("The translation service refuses the key", "翻译服务拒绝了密钥"),
                Message("Check the key (DUBWRIGHT_ENDPOINT_KEY).", "请检查密钥(DUBWRIGHT_ENDPOINT_KEY)。"),
                self._options.base,
            )
        if response.is_error:
            raise self._failed(f"it answers {response.status_code}: {self._words(response)}")
        try:
            answer = response.json()
        except ValueError:
            raise self._failed("its answer is not JSON; is this an OpenAI-compatible address?") from None
        if not isinstance(answer, dict):
            raise self._failed("its answer has another form than expected")
        return cast("dict[str, Any]", answer)

    def _words(self, response: httpx.Response) -> str:
        """The service's own words, short and without the key, should it repeat it."""
        text = " ".join(response.text.split())[:200]
        return text.replace(self._options.key, "•••") if self._options.key else text

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._look()
            time.sleep(min(left, 0.2))

    def _failed(self, why: str) -> ResourceError:
        return ResourceError(
            Message(f"The translation service failed: {why}", f"翻译服务出错:{why}"),
            Message(
                "Check that it runs, and its address and model; or type or paste the lines.",
                "请检查服务是否运行、地址和模型是否正确;也可以输入或粘贴译文。",
            ),
            self._options.base,
        )
