"""The web server: FastAPI with Gradio mounted at ``/``; this process loads no torch and asks no other host for anything.

Guards: foreign Host names are refused (DNS rebinding), no other origin gets a CORS answer, and beyond loopback a
password is required. Gradio's password does not cover our own routes: ``/healthz`` tells nothing, ``/metrics`` has a token.
"""

from __future__ import annotations

import logging
import logging.handlers
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.middleware.trustedhost import TrustedHostMiddleware
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from pipelines.backend.policy import Policy, choose
from pipelines.backend.probe import Probe, look
from pipelines.errors import InputError, Message, OptionError
from pipelines.settings import Settings
from ui.keeper import Keeper
from ui.machine import Machine
from ui.metrics import Metrics
from ui.services import Services, make_services

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "dubwright-language"
MAX_UPLOAD = "20gb"
METRICS_TOKEN = "DUBWRIGHT_METRICS_TOKEN"


class LanguageChoice:
    """Make the language that the user chose (a cookie) hold for the server's sentences and for the browser's labels."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Replace ``accept-language``; in the page itself also ``navigator.language``, before Gradio reads it."""
        language = _chosen(scope) if scope["type"] == "http" else None
        if language is None:
            await self.app(scope, receive, send)
            return
        page = scope["path"] == "/" and scope["method"] == "GET"
        dropped = {b"accept-language", b"accept-encoding"} if page else {b"accept-language"}
        headers = [(key, value) for key, value in scope["headers"] if key not in dropped]
        scope = {**scope, "headers": [*headers, (b"accept-language", language.encode())]}
        await self.app(scope, receive, _inserting(send, language) if page else send)


def _chosen(scope: Scope) -> str | None:
    cookies = dict(scope["headers"]).get(b"cookie", b"").decode("latin-1")
    values = [
        part.partition("=")[2].strip() for part in cookies.split(";") if part.strip().startswith(COOKIE + "=")
    ]
    return values[0] if values and values[0] in ("en", "zh") else None


def _inserting(send: Send, language: str) -> Send:
    """A ``send`` that holds the page back until it is whole and puts one script at the top of its head."""
    held: list[AsgiMessage] = []
    script = (
        f"<head><script>for (const k of ['language', 'languages']) Object.defineProperty(navigator, k, "
        f"{{get: () => k === 'language' ? '{language}' : ['{language}']}});</script>"
    )

    async def sending(message: AsgiMessage) -> None:
        if message["type"] not in ("http.response.start", "http.response.body"):
            await send(message)  # extensions of ASGI servers are none of our business
            return
        held.append(message)
        if message["type"] != "http.response.body" or message.get("more_body"):
            return
        start, body = held[0], b"".join(part.get("body", b"") for part in held[1:])
        body = body.replace(b"<head>", script.encode(), 1).replace(
            b'lang="en"', f'lang="{language}"'.encode(), 1
        )
        headers = [(key, value) for key, value in start["headers"] if key.lower() != b"content-length"]
        await send({**start, "headers": [*headers, (b"content-length", str(len(body)).encode())]})
        await send({"type": "http.response.body", "body": body})

    return sending


def make_app(
    services: Services,
    *,
    hosts: Sequence[str] = LOOPBACK,
    auth: tuple[str, str] | None = None,
    metrics_token: str = "",
) -> FastAPI:
    """Build the application: health check, metrics, guards, and the page at ``/``."""
    os.environ["GRADIO_TEMP_DIR"] = str(services.uploads)
    for folder in (services.uploads, services.shown, services.settings.outputs):
        folder.mkdir(parents=True, exist_ok=True)
    import gradio as gr

    from ui import examples
    from ui.i18n import make_i18n
    from ui.page import build_page
    from ui.theme import CSS, make_theme

    gr.set_static_paths([services.settings.outputs, services.shown, examples.FOLDER])
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(LanguageChoice)
    app.add_middleware(CORSMiddleware, allow_origins=[])
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*hosts, "[::1]"])

    @app.get("/healthz")
    def health() -> dict[str, str]:
        return {"status": "ready", "application": "dubwright"}

    add_metrics(app, services, metrics_token, free=services.local and auth is None)
    mounted: FastAPI = gr.mount_gradio_app(
        app,
        build_page(services),
        path="/",
        theme=make_theme(),
        css=CSS,
        i18n=make_i18n(),
        auth=auth,
        show_error=False,
        max_file_size=MAX_UPLOAD,
        allowed_paths=[],
        footer_links=["settings"],
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
    )
    return mounted


def add_metrics(app: FastAPI, services: Services, token: str, *, free: bool) -> None:
    """Answer ``/metrics``; unless ``free`` only with ``Authorization: Bearer TOKEN``, and not at all without a token.

    A plain route: a mounted application would answer at ``/metrics/`` only, for the page at ``/`` takes the rest.
    """
    if not free and not token:
        return
    metrics = Metrics(services)

    @app.get("/metrics")
    def expose(request: Request) -> Response:
        given = request.headers.get("authorization", "").encode()
        if token and not secrets.compare_digest(given, f"Bearer {token}".encode()):
            return Response("A token is needed.\n", 401, {"www-authenticate": "Bearer"})
        return Response(metrics.exposition(), media_type=CONTENT_TYPE_LATEST)


def check_address(host: str, port: int, auth: tuple[str, str] | None) -> None:
    """Refuse an address that would expose the page without a password, or a port that is taken.

    Raises:
        OptionError: no password beyond loopback. InputError: the port is taken; the message names a free one.
    """
    if host not in LOOPBACK and not (auth and all(auth)):
        raise OptionError(
            Message(f"Listening on {host} needs a password", f"监听 {host} 需要密码"),
            Message("Add --auth USER:PASSWORD.", "请加上 --auth 用户名：密码。"),
        )
    if not _free(host, port):
        other = next((p for p in range(port + 1, port + 50) if _free(host, p)), 0)
        raise InputError(
            Message(f"Port {port} is taken by another program", f"端口 {port} 已被占用"),
            Message(f"Start with --port {other}.", f"请用 --port {other} 启动。"),
            host,
        )


def _free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
        except OSError:
            return False
    return True


def start_log(settings: Settings, debug: bool) -> None:
    """Write the page's own log to ``logs/page.log`` (kept small), beside what goes to stderr."""
    settings.logs.mkdir(parents=True, exist_ok=True)
    handler = logging.handlers.RotatingFileHandler(
        settings.logs / "page.log", maxBytes=2_000_000, backupCount=3, encoding="utf-8"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.DEBUG if debug else logging.INFO)
    for chatty in ("httpx", "httpcore", "asyncio", "multipart", "python_multipart", "PIL", "markdown_it"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def serve(
    settings: Settings,
    host: str = "127.0.0.1",
    port: int = 7860,
    auth: tuple[str, str] | None = None,
    *,
    policy: Policy | None = None,
    found: Probe | None = None,
    debug: bool = False,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Run the page until it is interrupted; ``on_ready`` gets the address once it answers.

    Raises:
        OptionError, InputError: see ``check_address``.
    """
    check_address(host, port, auth)
    start_log(settings, debug)
    found = found or look(settings)
    machine = Machine(found, policy or choose(found, threads=settings.threads))
    services = make_services(settings, machine, local=host in LOOPBACK)
    names: Sequence[str] = (
        LOOPBACK if host in LOOPBACK else ("*",) if host in ("0.0.0.0", "::") else (*LOOPBACK, host)
    )
    token = os.environ.get(METRICS_TOKEN, "")
    app = make_app(services, hosts=names, auth=auth, metrics_token=token)
    address = (
        f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else f'[{host}]' if ':' in host else host}:{port}"
    )
    config = uvicorn.Config(
        app, host=host, port=port, log_level="info" if debug else "warning", log_config=None
    )
    keeper = Keeper(services)
    keeper.start()
    try:
        _Server(config, lambda: on_ready(address) if on_ready else None).run()
    finally:
        keeper.close()
        services.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], Any]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()
