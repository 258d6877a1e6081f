"""The server's guards: who may ask, from where, and what may be read."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from pipelines.errors import InputError, OptionError
from pipelines.files import write_text
from pipelines.settings import Settings
from tests.ui.conftest import open_services
from ui.server import check_address, make_app
from ui.services import Services

HOME = "http://127.0.0.1:7860"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    home = tmp_path_factory.mktemp("served")
    services = open_services(
        replace(Settings.load(), **{name: home / name for name in ("outputs", "jobs", "cache", "logs")})
    )
    yield services
    services.close()


@pytest.fixture(scope="module")
def client(served: Services) -> Iterator[TestClient]:
    with TestClient(make_app(served), base_url=HOME) as client:
        yield client


def test_health_is_told_and_the_page_is_served(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ready", "application": "dubwright"}
    page = client.get("/")
    assert page.status_code == 200 and "gradio_config" in page.text
    assert client.get("/docs").status_code == 404  # Gradio answers /openapi.json itself, behind the password


def test_a_foreign_host_name_is_refused(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400


def test_no_other_origin_is_let_in(client: TestClient) -> None:
    answer = client.get("/config", headers={"origin": "http://evil.example"})
    assert "access-control-allow-origin" not in answer.headers
    asked = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    assert (
        "access-control-allow-origin" not in client.options("/gradio_api/run/predict", headers=asked).headers
    )


def test_only_results_can_be_read_not_jobs_nor_keys(client: TestClient, served: Services) -> None:
    job = served.settings.jobs / "20260101-000000-dub-abcdef"
    for path in (job / "private.json", job / "job.json", served.settings.cache / "browser-secret"):
        if not path.exists():
            write_text(path, "secret")
        assert client.get(f"/gradio_api/file={path}").status_code in (403, 404), path
    write_text(served.settings.outputs / "film.txt", "film")
    assert client.get(f"/gradio_api/file={served.settings.outputs / 'film.txt'}").text == "film"
    assert client.get("/gradio_api/file=/etc/passwd").status_code in (403, 404)


def test_the_chosen_language_holds_for_page_and_server(client: TestClient) -> None:
    page = client.get("/", headers={"cookie": "dubwright-language=zh", "accept-language": "en-US"}).text
    assert 'lang="zh"' in page[:200] and "'language' ? 'zh'" in page
    assert page.index("navigator") < page.index("gradio_config")
    odd = client.get("/", headers={"cookie": "dubwright-language=</script>"}).text
    assert "navigator, k" not in odd


def test_with_a_password_nothing_is_served_without_it(served: Services) -> None:
    with TestClient(make_app(served, auth=("me", "secret")), base_url=HOME) as client:
        assert client.get("/config").status_code == 401
        assert client.post("/gradio_api/upload", files={"files": b"x"}).status_code == 401
        assert client.get("/healthz").status_code == 200


def test_beyond_this_computer_a_password_is_needed() -> None:
    with pytest.raises(OptionError, match="needs a password"):
        check_address("0.0.0.0", 7999, None)
    with pytest.raises(OptionError):
        check_address("192.168.1.5", 7999, ("me", ""))


def test_a_taken_port_is_named_with_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=rf"Port {port} is taken.*--port \d+"):
            check_address("127.0.0.1", port, None)
