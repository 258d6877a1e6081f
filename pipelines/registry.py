"""Engines by name: one file and one registration line each, imported only when used."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

from pipelines import weights
from pipelines.backend.policy import Family, Policy
from pipelines.errors import EngineMissing, Message
from pipelines.settings import Settings

E = TypeVar("E")
ALL_FAMILIES: frozenset[Family] = frozenset({"cuda", "rocm", "mps", "cpu"})
NO_REASON = Message("", "")
StateName = Literal["ready", "missing weights", "missing package", "unsupported here"]


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What a person and the registry need to know about an engine before it is loaded.

    Attributes:
        name: the name used on the command line and in job specs.
        label: what it is, in a few words.
        licence: licence of code and weights.
        consequence: what that licence forbids a user to do with the result, where it forbids something.
        packages: import names that must be present.
        programs: executables that must be found on the PATH.
        weights: ids in weights/manifest.toml that must be present.
        optional_weights: ids of what it uses beside them when it is there.
        families: machine families it runs on (its own declaration: "uses torch" says nothing).
        runs_on: ``cpu`` when it works on the CPU whatever the machine has, ``device`` when it follows the policy.
        features: capability words the page and the flows ask for, such as ``clones``, ``hotwords``, ``exact-length``,
            ``takes`` (another seed gives another reading).
        stand_in: name of the engine that runs the same model on the families this one does not; a job that names this
            engine is done by that one there.
        limits: for capability words that are not among the features, why not.
    """

    name: str
    label: Message
    licence: str
    consequence: Message = NO_REASON
    packages: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    optional_weights: tuple[str, ...] = ()
    families: frozenset[Family] = ALL_FAMILIES
    runs_on: Literal["cpu", "device"] = "cpu"
    features: frozenset[str] = frozenset()
    stand_in: str = ""
    limits: tuple[tuple[str, Message], ...] = ()


@dataclass(frozen=True, slots=True)
class EngineState:
    """Whether an engine can run now, and if not, why and what to do (``todo``)."""

    state: StateName
    reason: Message = NO_REASON
    todo: Message = NO_REASON

    @property
    def ready(self) -> bool:
        """True when the engine can be loaded."""
        return self.state == "ready"


@dataclass(frozen=True, slots=True)
class EngineContext:
    """What every engine's constructor is given."""

    settings: Settings
    policy: Policy


class Registry(Generic[E]):
    """The engines of one family (recognisers, voices, lips, translators)."""

    def __init__(self, part: Message) -> None:
        self.part = part
        self._entries: dict[str, tuple[EngineInfo, str]] = {}
        self._given: dict[str, dict[str, Any]] = {}

    def add(self, info: EngineInfo, path: str, **given: Any) -> None:
        """Register ``path`` (``package.module:Class``) under ``info.name``.

        The class takes an EngineContext, and ``given`` as keywords: for several engines of one class.
        """
        self._entries[info.name] = (info, path)
        self._given[info.name] = given

    def remove(self, name: str) -> None:
        """Take an engine out again whose files are gone; an unknown name is no mistake."""
        self._entries.pop(name, None)
        self._given.pop(name, None)

    def infos(self) -> tuple[EngineInfo, ...]:
        """All engines in order of registration; the first is the default."""
        return tuple(info for info, _ in self._entries.values())

    def info(self, name: str) -> EngineInfo:
        """Facts about one engine.

        Raises:
            EngineMissing: no engine has that name; the message lists the names.
        """
        if name not in self._entries:
            names = ", ".join(self._entries)
            raise EngineMissing(
                Message(
                    f"There is no {self.part.en} engine called {name!r}",
                    f"没有名为 {name!r} 的{self.part.zh}引擎",
                ),
                Message(f"Choose one of: {names}.", f"请从中选择:{names}。"),
            )
        return self._entries[name][0]

    def state(self, name: str, context: EngineContext) -> EngineState:
        """Whether the engine can run here: family first, then packages, then weights."""
        info = self.info(name)
        if context.policy.family not in info.families:
            family, instead = context.policy.family, info.stand_in
            return EngineState(
                "unsupported here",
                Message(
                    f"{name} does not run on {family}"
                    + (f"; {instead} does its work here" if instead else ""),
                    f"{name} 不支持 {family}" + (f",由 {instead} 代替" if instead else ""),
                ),
                Message(
                    "Nothing to do: a job that names it is done by the other",
                    "无需操作:任务会自动使用替代引擎",
                )
                if instead
                else Message(
                    "Choose another engine, or the CPU on the System tab",
                    "请选择其他引擎,或在“系统”页改用 CPU",
                ),
            )
        absent = [package for package in info.packages if importlib.util.find_spec(package) is None]
        if absent:
            listed = ", ".join(absent)
            return EngineState(
                "missing package",
                Message(f"Python packages missing: {listed}", f"缺少 Python 包:{listed}"),
                Message("Run bash start_app.sh --setup-only", "请运行 bash start_app.sh --setup-only"),
            )
        unseen = [program for program in info.programs if shutil.which(program) is None]
        if unseen:
            listed = ", ".join(unseen)
            return EngineState(
                "missing package",
                Message(f"not installed: {listed}", f"未安装程序:{listed}"),
                Message(
                    f"Install {listed} with your system's package manager",
                    f"请用系统的软件包管理器安装 {listed}",
                ),
            )
        lacking = [item for item in info.weights if not weights.present(context.settings, item)]
        if lacking:
            listed = ", ".join(lacking)
            return EngineState(
                "missing weights",
                Message(
                    f"model files missing: {listed} (see weights/README.md)",
                    f"缺少模型文件:{listed}(见 weights/README.md)",
                ),
                Message(
                    f"Fetch it on the System tab, or run python app.py weights {' '.join(lacking)}",
                    f"请在“系统”页获取,或运行 python app.py weights {' '.join(lacking)}",
                ),
            )
        return EngineState("ready")

    def chosen(self, name: str, context: EngineContext) -> str:
        """The engine that does the work of ``name`` on this machine's family: itself, or its stand-in."""
        info = self.info(name)
        if context.policy.family in info.families or not info.stand_in:
            return name
        return info.stand_in

    def get(self, name: str, context: EngineContext) -> E:
        """Load an engine, or the one that stands in for it on this family.

        Raises:
            EngineMissing: unknown, not installed or not for this machine, with the reason.
        """
        name = self.chosen(name, context)
        info = self.info(name)
        state = self.state(name, context)
        if not state.ready:
            raise EngineMissing(
                Message(
                    f"The engine {name} cannot run: {state.reason.en}",
                    f"引擎 {name} 无法运行:{state.reason.zh}",
                ),
                Message(
                    "Run `python app.py doctor` for the next step.",
                    "运行 `python app.py doctor` 查看下一步。",
                ),
            )
        module, _, attribute = self._entries[info.name][1].partition(":")
        build = cast("Callable[..., E]", getattr(importlib.import_module(module), attribute))
        return build(context, **self._given[name])

    def states(self, context: EngineContext) -> Mapping[str, EngineState]:
        """The state of every engine, for the banner's table and the doctor."""
        return {info.name: self.state(info.name, context) for info in self.infos()}
