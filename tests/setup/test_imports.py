"""Who may import whom: the rules of docs/ARCHITECTURE.md, read from the sources and from a running interpreter."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pipelines.doctor import registries
from pipelines.flows import FLOWS

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("app", "commands", "launcher", "pipelines", "training", "ui")
FAMILIES = ("asr", "voice", "lipsync", "translate")
VOCABULARY = {"pipelines.types", "pipelines.errors", "pipelines.progress"}
GROUND = VOCABULARY | {"pipelines.settings", "pipelines.files", "pipelines.records"}


@cache
def sources() -> dict[str, Path]:
    """Every module of ours by its dotted name."""
    found = {"app": ROOT / "app.py"} if (ROOT / "app.py").exists() else {}
    for top in TOPS[1:]:
        for path in (ROOT / top).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(module: str) -> frozenset[str]:
    """Modules that a module imports anywhere in its text, ours resolved to modules (``from package import module``)."""
    path, found = sources()[module], set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module if path.name == "__init__.py" else module.rpartition(".")[0]
                for _ in range(node.level - 1):
                    package = package.rpartition(".")[0]
                base = f"{package}.{base}" if base else package
            inner = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name for name in inner if name in sources()} or {base}
    return frozenset(found)


def within(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def ours(module: str) -> Iterator[str]:
    return (name for name in imports(module) if within(name, *TOPS))


def breaches(modules: list[str], *forbidden: str, besides: set[str] = frozenset()) -> list[str]:  # type: ignore[assignment]
    """``a imports b`` for every import of something forbidden."""
    return sorted(
        f"{module} imports {name}"
        for module in modules
        for name in imports(module)
        if within(name, *forbidden) and name not in besides
    )


def under(*packages: str) -> list[str]:
    return [module for module in sources() if within(module, *packages)]


def engine_modules() -> dict[str, str]:
    """Engine's module → its family, from the registrations."""
    found = {}
    for registry in registries().values():
        for info in registry.infos():
            module = registry._entries[info.name][1].partition(":")[0]
            found[module] = module.split(".")[1]
    return found


def test_the_library_knows_no_page() -> None:
    assert (
        breaches(
            under("pipelines"),
            "gradio",
            "gradio_client",
            "fastapi",
            "starlette",
            "uvicorn",
            "ui",
            "commands",
            "launcher",
        )
        == []
    )


def test_nothing_imports_the_page_but_the_command_that_starts_it() -> None:
    modules = [module for module in sources() if not within(module, "ui", "app", "commands.page")]
    assert breaches(modules, "ui") == []


def test_the_vocabulary_stands_on_nothing() -> None:
    for module in VOCABULARY:
        assert set(ours(module)) <= VOCABULARY, module


def test_the_backend_stands_on_the_vocabulary() -> None:
    allowed = GROUND | {"pipelines"}
    for module in under("pipelines.backend"):
        above = {
            name for name in ours(module) if name not in allowed and not within(name, "pipelines.backend")
        }
        assert above <= {"pipelines.registry"}, (
            f"{module} imports {above}"
        )  # the banner's annotation of EngineState
    for module in ("pipelines.weights", "pipelines.weight_sources"):
        assert set(ours(module)) <= allowed | {"pipelines.weights"}, module
    assert set(ours("pipelines.registry")) <= allowed | {"pipelines.weights", "pipelines.backend.policy"}


def test_engines_know_neither_flows_nor_jobs_nor_other_families() -> None:
    flows = {target.partition(":")[0] for target in FLOWS.values() if "media" not in target}
    for family in FAMILIES:
        modules = under(f"pipelines.{family}")
        others = [f"pipelines.{other}" for other in FAMILIES if other != family]
        assert breaches(modules, *others, *flows, "pipelines.jobs", "pipelines.doctor") == []


def test_the_phone_network_knows_no_engine_and_nothing_knows_its_training() -> None:
    allowed = VOCABULARY | {"pipelines.g2p.symbols"}
    for module in under("pipelines.phones"):
        above = {
            name for name in ours(module) if name not in allowed and not within(name, "pipelines.phones")
        }
        assert above == set(), f"{module} imports {above}"
    assert breaches([module for module in sources() if not within(module, "training")], "training") == []


def test_engines_are_reached_through_their_registry_only() -> None:
    """Nothing imports an engine's module, except the parts of that engine's own package, and training."""
    for engine in engine_modules():
        modules = [module for module in sources() if not within(module, engine, "training")]
        assert breaches(modules, engine) == []


def test_jobs_know_no_pipeline() -> None:
    allowed = GROUND | {
        "pipelines",
        "pipelines.artifacts",
        "pipelines.flows",
        "pipelines.registry",
        "pipelines.backend.guard",  # what an attempt's end means for the next one: policies in, policies out
        "pipelines.backend.policy",
    }
    for module in under("pipelines.jobs"):
        above = {name for name in ours(module) if name not in allowed and not within(name, "pipelines.jobs")}
        assert above == set(), f"{module} imports {above}"


def test_page_and_commands_use_public_names() -> None:
    private = []
    for module in under("ui", "commands"):
        for node in ast.walk(ast.parse(sources()[module].read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and within(node.module or "", "pipelines"):
                private += [f"{module}: {alias.name}" for alias in node.names if alias.name.startswith("_")]
    assert private == []


def test_the_launcher_needs_the_standard_library_only() -> None:
    seen, waiting, foreign = set(), under("launcher"), set()
    while waiting:
        module = waiting.pop()
        seen.add(module)
        for name in _at_import(module):
            if within(name, *TOPS):
                waiting += [name] if name in sources() and name not in seen else []
            elif name.partition(".")[0] not in sys.stdlib_module_names:
                foreign.add(f"{module} imports {name}")
    assert foreign == set()


def _at_import(module: str) -> set[str]:
    """What is imported when the module is, not inside functions or for the type checker."""
    tree, found = ast.parse(sources()[module].read_text(encoding="utf-8")), set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name for name in inner if name in sources()} or {node.module}
    return found


def test_no_module_edits_the_search_path_or_uses_a_shell() -> None:
    found = []
    for module, path in sources().items():
        text = path.read_text(encoding="utf-8")
        found += [f"{module}: {word}" for word in ("sys.path.", "shell=True", "os.system(") if word in text]
    assert found == []
