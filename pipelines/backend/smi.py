"""What AMD's own tools say about the cards: ``amd-smi`` (current) and ``rocm-smi`` (no longer part of ROCm 10).

Both change the shape of their JSON between versions, put warnings before it and leave out what a card does not tell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

AMD_SMI = ("amd-smi", "static", "--asic", "--vram", "--driver", "--json")
ROCM_SMI = ("rocm-smi", "--showproductname", "--showmeminfo", "vram", "--json")
UNITS = {"": 1024**2, "B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}  # the tools mean powers of two
NAMES = ("Card Series", "Card series", "Device Name", "Card Model", "Card model")
SAYS_NOTHING = ("", "N/A", "unknown")


@dataclass(frozen=True, slots=True)
class Told:
    """A card as a tool tells of it; empty or None where it does not.

    Attributes:
        name: what it is called. target: such as ``gfx1100``. memory: bytes.
    """

    name: str = ""
    target: str = ""
    memory: int | None = None


def parse_amd_smi(text: str) -> list[Told]:
    """Cards from ``amd-smi static --json``: a bare list, or one inside ``gpu_data``."""
    whole = first_json(text)
    entries = whole.get("gpu_data", ()) if isinstance(whole, dict) else whole
    cards = []
    for entry in entries if isinstance(entries, list) else ():
        asic, vram = _inside(entry, "asic"), _inside(entry, "vram")
        if asic:
            name, target = _said(asic.get("market_name")), _said(asic.get("target_graphics_version"))
            cards.append(Told(name, _target(target), _bytes(vram.get("size"))))
    return cards


def parse_rocm_smi(text: str) -> list[Told]:
    """Cards from ``rocm-smi --json``: ``card0``, ``card1``… with keys that differ between versions; all are text."""
    whole = first_json(text)
    numbered = sorted(
        (int(key[4:]), value)
        for key, value in (whole.items() if isinstance(whole, dict) else ())
        if re.fullmatch(r"card\d+", key) and isinstance(value, dict)
    )
    cards = []
    for _, facts in numbered:
        name = next((said for key in NAMES if (said := _said(facts.get(key)))), "")
        memory = str(facts.get("VRAM Total Memory (B)", ""))
        size = int(memory) if memory.isdigit() else None
        cards.append(Told(name, _target(_said(facts.get("GFX Version"))), size))
    return cards


def first_json(text: str) -> Any:
    """The first JSON object or list that begins a line; None when there is none."""
    for start in re.finditer(r"^\s*[\[{]", text, re.MULTILINE):
        try:
            return json.JSONDecoder().raw_decode(text[start.end() - 1 :])[0]
        except ValueError:
            continue
    return None


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of an answer with its dotted path; ``{"value": 3, "unit": "W"}`` counts as 3, text as nothing.

    >>> list(leaves({"power": {"socket_power": {"value": 31, "unit": "W"}}}))
    [('power.socket_power', 31.0)]
    """
    if isinstance(value, dict) and "value" in value:
        yield from leaves(value["value"], path)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        numbers = [item for item in value if isinstance(item, int | float) and not isinstance(item, bool)]
        if numbers:
            yield path, float(max(numbers))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def _inside(entry: Any, name: str) -> Mapping[str, Any]:
    found = entry.get(name) if isinstance(entry, dict) else None
    return found if isinstance(found, dict) else {}


def _said(value: Any) -> str:
    text = str(value).strip() if value is not None else ""
    return "" if text in SAYS_NOTHING else text


def _target(text: str) -> str:
    return text.partition(":")[0] if re.match(r"gfx[0-9a-f]+", text) else ""


def _bytes(value: Any) -> int | None:
    """``24560``, ``"24560 MB"`` or ``{"value": 24560, "unit": "MB"}`` in bytes."""
    if isinstance(value, dict):
        value = f"{value.get('value')} {value.get('unit', '')}"
    match = re.fullmatch(r"(\d+)(?:\.\d+)?\s*([A-Za-z]*)", str(value).strip())
    return int(match.group(1)) * UNITS.get(match.group(2).upper(), 1024**2) if match else None
