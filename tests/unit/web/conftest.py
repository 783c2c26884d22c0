"""A small knowledge base, and a client of the page of a server that serves it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from kebab.app.facade import Kebab
from kebab.config.settings import Settings
from kebab.http.application import MountedApp, build_application
from kebab.http.guard import Admission, build_hosts
from kebab.http.service import Service, ServiceOptions
from kebab.web.application import PageOptions, WebPage
from kebab.web.sessions import Sessions
from kebab.wire.ingest import IngestRequest
from tests.pdf_files import Text, build_pdf
from tests.unit.http.conftest import BEARER, LIMIT, TOKEN

ORIGIN = "http://127.0.0.1:7717"
PNG = b"\x89PNG\r\n\x1a\n"
BREAD = """\
# Bread

Flour and water. The **oven** is hot at night.

See [soup](soup.md), [[soup|the same]] and [a site](https://example.org/).

![loaf](loaf.png) ![far](https://far.example/x.png)
"""


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> Path:
    """Return a folder with the files `notes` and their index `data`."""
    folder: Path = tmp_path_factory.mktemp("web")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "bread.md").write_text(BREAD)
    (notes / "soup.md").write_text("# Soup\n\nBoil the leeks.\n")
    (notes / "oven.py").write_text('def heat():\n    """Heat the oven."""\n    return 62\n')
    (notes / "long.md").write_text(
        "".join(f"## Part {n}\n\nLine {n} of rye.\n\n" for n in range(900))
    )
    (notes / "report.pdf").write_bytes(
        build_pdf([[Text(72, 700, "The kiln is cold.")], [Text(72, 700, "Two.")]])
    )
    key = "aws_access_key_id = AKIA" + "Z7QX4JH2M5RT3WPK"  # in parts, so that no scanner finds it
    (notes / "key.pdf").write_bytes(build_pdf([[Text(72, 700, key)]]))
    (notes / "loaf.png").write_bytes(PNG)
    bomb = PNG + b"\0\0\0\rIHDR" + (60_000).to_bytes(4, "big") * 2
    (notes / "bomb.png").write_bytes(bomb)
    (notes / "page.png.html").write_text("<script>alert(1)</script>")
    (folder / "secret.png").write_bytes(PNG)
    (notes / "out.png").symlink_to(folder / "secret.png")
    with Kebab(make_settings(folder), config_path=folder / "config.toml") as kebab:
        kebab.run(IngestRequest(paths=[str(notes)]))
    return folder


def make_settings(folder: Path) -> Settings:
    return Settings(data_dir=str(folder / "data"), offline=True)


@pytest.fixture
def sessions() -> Sessions:
    return Sessions(TOKEN)


@pytest.fixture
def opened() -> list[Any]:
    """What was opened in the editor."""
    return []


@pytest.fixture
def make_browser(base, sessions, opened) -> Iterator[Callable[..., TestClient]]:
    """Return a function that returns a browser, let in unless told, of one server."""
    options = ServiceOptions(
        config_path=base / "config.toml", load_settings=lambda: make_settings(base)
    )
    with ExitStack() as stack:
        service = Service(options)
        stack.callback(service.close)
        page = WebPage(
            PageOptions(
                answer=service.answer,
                sessions=sessions,
                open_file=lambda found, line: opened.append((found.doc_path, line)),
            )
        )
        (path, first), *others = page.routes.items()
        door = MountedApp(path, first, page.run, admits=page.admits, show_error=page.show_error)
        mounts = [door, *(MountedApp(*one) for one in others)]
        hosts, any_address = build_hosts("127.0.0.1")
        admission = Admission(TOKEN, hosts, any_address, LIMIT, page.open_paths, admits=page.admits)
        app = build_application(service, admission, mounts)

        def make(*, is_in: bool = True, client: str = "127.0.0.1") -> TestClient:
            browser = TestClient(
                app,
                base_url=ORIGIN,
                headers={"Accept": "text/html", "Sec-Fetch-Site": "none"},
                client=(client, 50_000),
                follow_redirects=False,
            )
            stack.enter_context(browser)
            if is_in:
                browser.get(f"/login?ticket={sessions.make_ticket()}")
            return browser

        yield make


@pytest.fixture
def browser(make_browser: Callable[..., TestClient]) -> TestClient:
    return make_browser()


@pytest.fixture
def find_doc(browser) -> Callable[[str], str]:
    """Return a function that returns the id of a document by its path."""

    def find(path: str) -> str:
        answer = browser.post("/v1/inspect_doc", json={"name": path}, headers=BEARER)
        doc_id: str = answer.json()["document"]["doc_id"]
        return doc_id

    return find
