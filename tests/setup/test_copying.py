"""The report to copy: what was found stays, what identifies somebody goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.backend.copying import anonymous, report
from pipelines.backend.rows import Row
from pipelines.errors import Message

TITLE = Message("Room for jobs", "任务磁盘空间")


def test_home_user_host_and_serials_are_left_out() -> None:
    rows = (
        Row("disk", "ok", TITLE, "40.1 GB free in /home/alice/.local/share/dubwright"),
        Row("amd.kfd", "warning", TITLE, "alice is not in group render on studio-pc (/home/alice)"),
        Row(
            "nvidia.0",
            "ok",
            TITLE,
            "RTX 4090, GPU-1b2c3d4e5f607182, serial: 0324521, 3f2a8c1e-1111-2222-3333-0123456789ab",
        ),
    )
    text = report(
        "AMD Radeon RX 7900 XT · ROCm 7.2", rows, home=Path("/home/alice"), user="alice", host="studio-pc"
    )
    for secret in ("alice", "studio-pc", "1b2c3d4e5f607182", "0324521", "3f2a8c1e"):
        assert secret not in text, text
    for kept in (
        "AMD Radeon RX 7900 XT · ROCm 7.2",
        "~/.local/share/dubwright",
        "USER is not in group render",
        "RTX 4090",
    ):
        assert kept in text, text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/al/x and /home/alba/x", "~/x and /home/alba/x"),
        ("albatross al", "albatross al"),
        ("address 00:1A:2b:3c:4D:5e", "address …"),
        ("unique 0x1a2b3c4d5e6f7081, kernel 0x744c", "unique …, kernel 0x744c"),
    ],
)
def test_only_whole_names_and_long_numbers_go(text: str, expected: str) -> None:
    assert anonymous(text, Path("/home/al"), "al", "") == expected


def test_a_user_without_a_home_changes_nothing() -> None:
    assert anonymous("/dev/kfd in /", Path("/"), "", "") == "/dev/kfd in /"
