"""Fixtures every part's tests share: real recordings, settings in a folder of their own, no unexpected ERROR in the log."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.settings import Settings

ROOT = Path(__file__).resolve().parent.parent


# Set by .ci/run, where everything a test needs is there: a test that is skipped all the same hides something.
COMPLETE = "DUBWRIGHT_TESTS_COMPLETE"


def pytest_configure() -> None:
    """Let Ctrl-C be felt: a shell that starts the tests in the background has it ignored, by all they start as well."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a skipped test fail where nothing may be lacking, unless it is marked ``may_skip``."""
    report = yield
    if report.skipped and os.environ.get(COMPLETE) and not item.get_closest_marker("may_skip"):
        report.outcome = "failed"
        report.longrepr = f"skipped although {COMPLETE} is set: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of the real sample recordings: ``DUBWRIGHT_TEST_DATA``, else ``../shared/data`` beside the checkout."""
    folder = Path(os.environ.get("DUBWRIGHT_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the sample recordings are not there: {folder}")
    return folder.resolve()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose folders are new and empty, except the weights, which are the real ones of this computer."""
    real = Settings.load()
    home = tmp_path / "home"
    folders = {name: home / name for name in ("outputs", "jobs", "cache", "logs")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    return replace(real, **folders)


@pytest.fixture(autouse=True)
def no_error_logged(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A test fails when something was logged as ERROR, unless it is marked ``logs_errors``."""
    yield
    if request.node.get_closest_marker("logs_errors"):
        return
    errors = [
        f"{record.name}: {record.getMessage()}"
        for when in ("setup", "call")
        for record in caplog.get_records(when)
        if record.levelno >= logging.ERROR
    ]
    assert not errors, "logged as errors: " + "; ".join(errors)
