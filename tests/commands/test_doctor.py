"""The doctor's command; what it looks at is tested in tests/setup."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def test_doctor_command_says_the_same_in_words_json_and_exit_code(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "DUBWRIGHT_HOME": str(tmp_path),
        "DUBWRIGHT_WEIGHTS": str(tmp_path / "none"),
        "LANG": "C.UTF-8",
    }
    app = str(Path(__file__).parents[2] / "app.py")
    words = subprocess.run(
        [sys.executable, app, "doctor", "--cpu"], env=environment, capture_output=True, text=True, check=False
    )
    assert (
        words.returncode == 1 and "app.py weights kokoro" in words.stdout and "Not ready: " in words.stdout
    ), words.stderr
    machine = subprocess.run(
        [sys.executable, app, "doctor", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    value = json.loads(machine.stdout)
    assert machine.returncode == 1 and value["usable"] is False and value["policy"]["device"] == "cpu"
    assert {item["id"]: item["state"] for item in value["weights"]}["kokoro"] == "missing"
    assert {check["id"]: check["level"] for check in value["checks"]}["engines.voice"] == "problem"
    assert value["engines"]["lips/ownmouth"]["state"] == "ready"
    assert value["engines"]["voice/kokoro"]["state"] == "missing weights"
