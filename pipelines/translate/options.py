"""Where a language model for translation is asked: address, model and key of an OpenAI-compatible service."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

ADDRESS, MODEL, KEY = "DUBWRIGHT_ENDPOINT", "DUBWRIGHT_ENDPOINT_MODEL", "DUBWRIGHT_ENDPOINT_KEY"


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """A service that answers ``POST {address}/chat/completions`` (Ollama, LM Studio, llama.cpp, vLLM, a cloud…).

    Attributes:
        address: base address such as ``http://127.0.0.1:11434/v1``; empty when none is set.
        model: its model; empty: the first one the service lists.
        key: sent as bearer token; never shown, never part of a job's options.
        timeout: seconds to wait for one answer.
    """

    address: str = ""
    model: str = ""
    key: str = field(default="", repr=False)
    timeout: float = 180.0

    @classmethod
    def read(
        cls, given: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None
    ) -> EndpointOptions:
        """From a job's ``endpoint`` option (address, model); what is not given there comes from the environment.

        The key comes from ``DUBWRIGHT_ENDPOINT_KEY`` alone. When ``DUBWRIGHT_ENDPOINT`` names another address than
        the job does, the key belongs to that one and is not sent.
        """
        env = os.environ if environment is None else environment
        given = given or {}
        known = cls(
            (env.get(ADDRESS) or "").strip(), (env.get(MODEL) or "").strip(), (env.get(KEY) or "").strip()
        )
        address = (given.get("address") or "").strip()
        if not address:
            return replace(known, model=(given.get("model") or "").strip() or known.model)
        asked = cls(address, (given.get("model") or "").strip())
        if known.address and known.base != asked.base:
            return asked
        return replace(asked, key=known.key, model=asked.model or known.model)

    @property
    def base(self) -> str:
        """The address without its last part; ``http://`` and ``/v1`` are added where they were left out."""
        address = self.address.rstrip("/").removesuffix("/chat/completions").rstrip("/")
        if address and "://" not in address:
            address = f"http://{address}"
        host = address.partition("://")[2]
        return f"{address}/v1" if address and "/" not in host else address
