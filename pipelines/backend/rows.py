"""The doctor's rows: what was read, what it means, what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from pipelines.errors import Message

Level = Literal["ok", "warning", "problem", "hint"]
NOTHING = Message("", "")


@dataclass(frozen=True, slots=True)
class Row:
    """One finding.

    Attributes:
        id: stable name for scripts, such as ``disk`` or ``amd.kfd``.
        level: ``problem`` means Dubwright cannot work; ``warning`` that something is worse than it could be; ``hint`` that
            something could not be found out, or would be useful and is not there.
        found: what was read, as it is. meaning, remedy: what follows, and what to do about it.
    """

    id: str
    level: Level
    title: Message
    found: str
    meaning: Message = NOTHING
    remedy: Message = NOTHING

    def plain(self) -> dict[str, Any]:
        """JSON: messages as [English, Chinese]."""
        return {
            name: [value["en"], value["zh"]] if isinstance(value, dict) else value
            for name, value in asdict(self).items()
        }


def usable(rows: tuple[Row, ...]) -> bool:
    """Whether there is no problem."""
    return all(row.level != "problem" for row in rows)


def render(rows: tuple[Row, ...], language: str) -> str:
    """The rows as text for a terminal."""
    signs = {"ok": "✓", "warning": "!", "problem": "✗", "hint": "?"}
    lines = []
    for row in rows:
        lines.append(f"{signs[row.level]} {row.title.text(language)}: {row.found}")
        after = [part.text(language) for part in (row.meaning, row.remedy) if part.text(language)]
        if after:
            lines.append("    " + (". " if not language.startswith("zh") else "。").join(after))
    return "\n".join(lines) + "\n"
