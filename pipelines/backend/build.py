"""What the installed torch was built for, read from its files without importing it."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from pipelines.backend.policy import Family


@dataclass(frozen=True, slots=True)
class Build:
    """``version`` is empty when torch is not installed; ``runtime`` the CUDA or HIP version of the build."""

    version: str = ""
    family: Family = "cpu"
    runtime: str = ""


def torch_build(version_file: Path | None = None) -> Build:
    """The build as torch's own ``version.py`` states it (``cuda``, ``hip``); a file that cannot be read says CPU."""
    if version_file is None:
        found = importlib.util.find_spec("torch")
        if found is None or found.origin is None:
            return Build()
        version_file = Path(found.origin).with_name("version.py")
    facts = _constants(version_file)
    version, hip, cuda = (str(facts.get(name) or "") for name in ("__version__", "hip", "cuda"))
    return Build(version or "installed", "rocm" if hip else "cuda" if cuda else "cpu", hip or cuda)


def _constants(path: Path) -> dict[str, object]:
    """The plain values that a module assigns."""
    try:
        statements = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError):
        return {}
    found: dict[str, object] = {}
    for line in statements:
        value = line.value if isinstance(line, ast.Assign | ast.AnnAssign) else None
        targets = (
            line.targets
            if isinstance(line, ast.Assign)
            else [line.target]
            if isinstance(line, ast.AnnAssign)
            else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
                found[target.id] = value.value
    return found
