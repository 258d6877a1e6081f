"""Every benchmark can be asked how it is used: one that was emptied or broken is noticed before it is needed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
COMMANDS = ("align", "asr", "dub", "lipsync", "media", "sheet", "voice", "voice_table")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_bench_has_a_command_line(name: str) -> None:
    tree = ast.parse((BENCH / f"{name}.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "says what it measures"
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    guards = [node for node in tree.body if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)]
    assert "main" in functions and guards
