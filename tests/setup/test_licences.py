"""docs/LICENCES.md lists everything that is fetched onto a user's computer."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest

from pipelines import weights
from pipelines.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "LICENCES.md").read_text(encoding="utf-8")
PACKAGES = re.findall(
    r"^([A-Za-z0-9._-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE
)


def listed() -> dict[str, str]:
    """Package → licence as the page has it."""
    table = PAGE.partition("### Every package, by licence")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)
    return {package: licence for licence, packages in rows for package in packages.split(", ")}


def test_every_package_is_listed_and_nothing_else() -> None:
    assert len(PACKAGES) > 100
    assert sorted(set(listed()) - {"packages"}) == sorted(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_under_a_copyleft_licence_is_listed_as_anything_else(package: str) -> None:
    try:
        about = metadata(package)
    except PackageNotFoundError:
        return  # only the test tools: not installed by start_app.sh
    said = " ".join([about.get("License-Expression") or "", *(about.get_all("Classifier") or [])])
    for family in ("AGPL", "LGPL", "GPL", "MPL"):
        if re.search(rf"\b{family}", said):
            assert family in listed()[package], (package, said)
            break


def test_every_model_file_is_listed() -> None:
    for item in weights.manifest(Settings.load()).values():
        assert item.title.en.partition(" (")[0].partition(",")[0] in PAGE, item.id
