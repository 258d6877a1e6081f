"""The container files, read as Docker and Compose would: no container is built here, and they say so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from launcher.environment import HEADLESS_CV2, NODE
from pipelines.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
INSTRUCTIONS = {"FROM", "ARG", "ENV", "RUN", "WORKDIR", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"}
DATA = {name: f"/data/{name}" for name in ("weights", "outputs", "jobs", "cache")}
BACKENDS = ("cpu", "cuda", "rocm")


def instructions() -> list[tuple[str, str]]:
    """(instruction, its text on one line), comments left out."""
    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    whole = re.sub(r"\\\n\s*", " ", lines)
    return [
        (word, rest.strip()) for word, _, rest in (line.partition(" ") for line in whole.splitlines() if line)
    ]


def of(word: str) -> list[str]:
    return [rest for name, rest in instructions() if name == word]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    whole = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8"))
    assert isinstance(whole, dict)
    return whole


def test_only_known_instructions_and_one_base_of_a_supported_python() -> None:
    assert {word for word, _ in instructions()} == INSTRUCTIONS
    assert instructions()[0] == ("FROM", "python:3.11-slim-bookworm")
    assert of("ARG") == ["BACKEND=cpu", "UID=1000"]


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[0] == "*"  # nothing that is not named goes into the image: no keys, no films
    for text in of("COPY"):
        *sources, _ = shlex.split(text)
        for source in sources:
            assert (ROOT / source).exists(), source
            let_in = [
                pattern for pattern in ignored if pattern.startswith("!") and Path(source).match(pattern[1:])
            ]
            assert let_in, source
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench", "training"}
    copied = {source for text in of("COPY") for source in shlex.split(text)[:-1]}
    assert packages <= copied


def test_torch_comes_first_alone_and_from_its_own_index() -> None:
    (install,) = [text for text in of("RUN") if "torch.txt" in text]
    steps = [step.strip() for step in install.split("&&")]
    assert steps[2:4] == [
        'pip install --index-url "$(cat /tmp/index)" -r /tmp/torch.txt',
        'pip install -r "requirements-$BACKEND.txt"',
    ]
    assert steps[4] == f"pip install --no-deps --force-reinstall {HEADLESS_CV2}"
    for backend in BACKENDS:  # what sed and grep of that step find
        text = (ROOT / f"requirements-{backend}.txt").read_text(encoding="utf-8")
        (index,) = re.findall(r"^--extra-index-url (.*)$", text, re.MULTILINE)
        build = index.rpartition("/")[2]
        pins = [line for line in text.splitlines() if line.startswith("torch") and '== "darwin"' not in line]
        assert {line.partition(";")[0] for line in pins} == {
            f"torch==2.11.0+{build}",
            f"torchaudio==2.11.0+{build}",
        }


def test_the_build_is_checked_after_the_other_packages() -> None:
    runs = of("RUN")
    check = next(index for index, text in enumerate(runs) if "torch.version" in text)
    install = next(index for index, text in enumerate(runs) if "/tmp/torch.txt" in text)
    assert check == install + 1
    code = shlex.split(runs[check])[2].replace("$BACKEND", "cpu")
    compile(code, "check", "exec")


def test_the_process_is_not_root_and_owns_its_data() -> None:
    assert of("USER") == ["dubwright"]
    words = [word for word, _ in instructions()]
    assert words.index("USER") < words.index("ENTRYPOINT")
    (made,) = [text for text in of("RUN") if "useradd" in text]
    for folder in (*DATA.values(), "/data/logs"):
        assert folder in made.split()
    fetch = of("RUN")[-1]
    assert NODE in fetch and "pipelines.fetch --default" in fetch


def test_the_applications_folders_are_the_volumes() -> None:
    environment = dict(pair.split("=", 1) for text in of("ENV") for pair in text.split())
    settings = Settings.load(environment)
    assert {name: str(getattr(settings, name)) for name in DATA} == DATA


def test_every_backend_has_a_service_with_its_requirement_file(compose: dict[str, Any]) -> None:
    assert tuple(compose["services"]) == BACKENDS
    for name, service in compose["services"].items():
        assert service["profiles"] == [name]
        built = service["build"]
        assert built["args"] == {"BACKEND": name}
        assert (ROOT / f"requirements-{name}.txt").is_file()
        assert (
            ROOT / "docker" / built["context"] / built["dockerfile"]
        ).resolve() == ROOT / "docker" / "Dockerfile"


@pytest.mark.parametrize("name", BACKENDS)
def test_ports_volumes_and_password(compose: dict[str, Any], name: str) -> None:
    service = compose["services"][name]
    assert service["ports"] == ["127.0.0.1:7860:7860"]  # never open to the network unasked
    assert of("EXPOSE") == ["7860"]
    assert {text.partition(":")[0]: text.partition(":")[2] for text in service["volumes"]} == DATA
    assert set(compose["volumes"]) == set(DATA)
    assert service["command"][:3] == ["--listen", "0.0.0.0", "--auth"]
    assert service["command"][3].startswith("${DUBWRIGHT_AUTH:?")
    assert service["environment"]["DUBWRIGHT_METRICS_TOKEN"] == "${DUBWRIGHT_METRICS_TOKEN:-}"
    assert "privileged" not in service


def test_each_service_gets_its_cards_and_no_other(compose: dict[str, Any]) -> None:
    cpu, cuda, rocm = (compose["services"][name] for name in BACKENDS)
    assert "devices" not in cpu and "deploy" not in cpu and "devices" not in cuda
    (reserved,) = cuda["deploy"]["resources"]["reservations"]["devices"]
    assert reserved == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
    assert rocm["devices"] == ["/dev/kfd", "/dev/dri"]
    assert rocm["group_add"] == ["${VIDEO_GID:-44}", "${RENDER_GID:-109}"]
    assert rocm["shm_size"] == "8g"


@pytest.mark.parametrize("name", ["docker/Dockerfile", "docker/compose.yaml", "docs/INSTALL.md"])
def test_it_is_said_that_nobody_built_it(name: str) -> None:
    assert "not built here" in (ROOT / name).read_text(encoding="utf-8").lower()


def test_the_page_about_installing_names_what_exists() -> None:
    page = (ROOT / "docs" / "INSTALL.md").read_text(encoding="utf-8")
    assert HEADLESS_CV2 in page
    for name in re.findall(r"requirements-[a-z]+\.txt|docker/|METRICS\.md", page):
        assert (ROOT / name).exists() or (ROOT / "docs" / name).exists(), name
    rocm = (ROOT / "requirements-rocm.txt").read_text(encoding="utf-8")
    for line in re.findall(r"^pip install --index-url .*$", page, re.MULTILINE):
        assert line in rocm
