"""The stock voices: packs of 510 style rows, one for every number of phonemes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.errors import Message, OptionError, WeightsMissing

Floats = npt.NDArray[np.float32]

ROWS, WIDTH = 510, 256
# First letter of a pack's name → language whose native speech it was made from.
NATIVE = {"a": "en", "b": "en", "e": "es", "f": "fr", "h": "hi", "i": "it", "j": "ja", "p": "pt", "z": "zh"}
# A pleasant, well-trained voice per language, used where no reference is given.
STOCK = {
    "en": "af_heart", "es": "ef_dora", "fr": "ff_siwis", "hi": "hf_alpha", "it": "if_sara", "ja": "jf_alpha",
    "pt": "pf_dora", "zh": "zf_xiaoxiao",
}  # fmt: skip


def native_language(name: str) -> str:
    """ISO 639-1 code of the language a stock voice was made from native speech of."""
    return NATIVE.get(name[0], "en")


@dataclass(frozen=True, slots=True)
class Packs:
    """All stock voices that are there; ``styles`` float32 (voices, 510, 256)."""

    names: tuple[str, ...]
    styles: Floats

    def style(self, name: str) -> Floats:
        """One voice, float32 (510, 256).

        Raises:
            OptionError: there is no voice of that name; the message lists them.
        """
        if name not in self.names:
            known = ", ".join(self.names)
            raise OptionError(
                Message(f"There is no stock voice called {name!r}", f"没有名为 {name!r} 的内置声音"),
                Message(f"Choose one of: {known}.", f"请从中选择:{known}。"),
            )
        return np.asarray(self.styles[self.names.index(name)])


def load(folder: Path) -> Packs:
    """Read every ``*.bin`` of the voices folder.

    Raises:
        WeightsMissing: there is none.
    """
    files = sorted(path for path in folder.glob("*.bin") if path.stat().st_size == ROWS * WIDTH * 4)
    if not files:
        raise WeightsMissing(
            Message("The stock voices of Kokoro are not on this computer", "本机没有 Kokoro 的内置声音"),
            Message(
                "Run `bash start_app.sh --setup-only`, or see weights/README.md.",
                "运行 `bash start_app.sh --setup-only`,或查看 weights/README.md。",
            ),
            str(folder),
        )
    styles = np.stack([np.fromfile(path, np.float32).reshape(ROWS, WIDTH) for path in files])
    return Packs(tuple(path.stem for path in files), styles)
