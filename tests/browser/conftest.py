"""The real page on loopback and a real Chromium; one server and one browser for all tests, a fresh context for each."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from pipelines.settings import Settings
from tests.ui.conftest import open_services
from ui.server import make_app
from ui.services import Services

CHROMIUM = os.environ.get("DUBWRIGHT_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
START_SECONDS, WAIT_MS = 90.0, 30_000


@dataclass(frozen=True)
class Site:
    """A running page."""

    url: str
    services: Services


def run_site(services: Services) -> Iterator[Site]:
    """Serve the page on a free port until the generator is closed."""
    config = uvicorn.Config(
        make_app(services),
        host="127.0.0.1",
        port=0,
        log_level="warning",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="page", daemon=True)
    thread.start()
    end = time.monotonic() + START_SECONDS
    while not server.started:
        assert thread.is_alive() and time.monotonic() < end, "the page does not start"
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Site(f"http://127.0.0.1:{port}/", services)
    server.should_exit = True
    thread.join(20)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of the session's page: folders of its own, the real weights."""
    folder = tmp_path_factory.mktemp("page 页面")
    names = ("outputs", "jobs", "cache", "logs")
    return replace(Settings.load(), **{name: folder / name for name in names})


@pytest.fixture(scope="session")
def site(home: Settings) -> Iterator[Site]:
    """The page with quick flows."""
    services = open_services(home)
    yield from run_site(services)
    services.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium of the distribution."""
    if not Path(CHROMIUM).exists():
        pytest.skip("Chromium is not installed (set DUBWRIGHT_CHROMIUM)")
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Makes contexts (locale, size, colours) that are closed after the test."""
    made: list[BrowserContext] = []

    def make(**options: Any) -> BrowserContext:
        made.append(
            browser.new_context(**{"locale": "en-US", "viewport": {"width": 1280, "height": 900}, **options})
        )
        made[-1].set_default_timeout(WAIT_MS)
        return made[-1]

    yield make
    for one in made:
        one.close()


def visit(context: BrowserContext, site: Site) -> Page:
    """Open the page and wait until it can be used."""
    page = context.new_page()
    page.goto(site.url)
    page.locator("#banner summary").wait_for()
    page.locator(".job.empty, .job[data-job]").first.wait_for()
    return page
