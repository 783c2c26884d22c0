"""One server and one browser for all tests of the page."""

import json
import shutil

import pytest

from tests.fakes.ollama import fake_ollama
from tests.hostile_notes import HOSTILE

NOTES = {
    "bread.md": (
        "---\ntags: [kitchen]\ndate: 2025-03-01\n---\n# Bread\n\n## Feeding\n\n"
        "Feed the starter once a week. See [soup](soup.md).\n\n"
        "## Baking\n\nBake the loaf for forty minutes, and recieve praise.\n"
    ),
    "soup.md": (
        "---\ntags: [kitchen, leeks]\nkind: starter\ndate: 2025-04-02\n---\n# Soup\n\n"
        "Boil the leeks for forty minutes. The starter rests.\n\n> [!tip] Serving\n> Hot.\n"
    ),
    "korean.md": "---\nlang: ko\n---\n# 김치 담그기\n\n배추를 소금으로 여섯 시간 절인다.\n",
    "arabic.md": "---\nlang: ar\n---\n# القهوة\n\nتُغلى القهوة مع الماء عشر دقائق.\n",
    "hostile/title.md": (
        '---\ntitle: "<img src=x onerror=window.hacked=1>\u202etxt"\ntags: ["<b>x</b>"]\n---\n'
        "zebra\n"
    ),
    "hostile/page.html": (
        "<script>window.hacked = 1</script><img src=https://far.example/x.png onerror=hacked=1>"
        '<form id=q><button class=primary style="position:fixed">Search</button></form>zebra'
    ),
    "hostile/mail.eml": (
        "From: <script>@far.example\nSubject: zebra <img src=x onerror=1>\n"
        "Content-Type: text/html\n\n<meta http-equiv=refresh content='0;url=//far.example'>zebra\n"
    ),
    "hostile/cells.ipynb": json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [
                {
                    "cell_type": "markdown",
                    "metadata": {},
                    "source": "<script>hacked=1</script>zebra",
                }
            ],
        }
    ),
    "hostile/rows.csv": '=HYPERLINK("javascript:1"),<script>1</script>\nzebra,"<img src=x>"\n',
    "hostile/code.js": "/* zebra </pre><script>window.hacked = 1</script> */\n",
    **{f"hostile/{n}.md": f"{text}\n\nzebra\n" for n, text in enumerate(HOSTILE)},
}
FORMATS = ("report.pdf", "tides.ipynb", "oil.eml", "code/retry.py")


@pytest.fixture(scope="session")
def model_server():
    with fake_ollama("gemma3:4b") as server:
        yield server


@pytest.fixture
def ollama(model_server):
    """The server of the model; what a test left unasked is not said in the next one."""
    model_server.forget()
    return model_server


@pytest.fixture(scope="session")
def site(tmp_path_factory, model_server):
    from tests.browser.browser import CHROMIUM, DRIVER, open_site

    if not (CHROMIUM and DRIVER):
        pytest.skip("needs the programs `chromium` and `chromedriver`")
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree("samples/notes/work", folder / "notes" / "work")
    (folder / "notes" / "hostile").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text, encoding="utf-8")
    for name in FORMATS:
        shutil.copy(f"samples/formats/{name}", folder / "notes")
    environment = {"OLLAMA_HOST": model_server.url, "KEBAB_MODELS_LLM_MODEL": "gemma3:4b"}
    with open_site(folder / "home", folder / "notes", environment, ("--allow-write",)) as made:
        yield made


@pytest.fixture(scope="session")
def window(site):
    from tests.browser.browser import open_browser

    with open_browser(logs=True) as visitor:
        visitor.driver.set_script_timeout(60)
        visitor.resize(1280)
        visitor.prefer("light")
        visitor.driver.get(site.build_login())
        yield visitor


@pytest.fixture
def visit(window, site):
    """Open an address of the page; afterwards nothing went wrong and nothing went elsewhere."""
    window.drain_logs()
    window.errors.clear()
    window.addresses.clear()

    def go(path="/"):
        window.driver.get(site.url + path)
        window.wait_for("#bar nav a", "Status")
        return window

    yield go
    window.run("sessionStorage.clear()")
    window.drain_logs()
    assert window.errors == []
    own = (site.url + "/", "data:", "about:", "chrome")
    assert [one for one in window.addresses if not one.startswith(own)] == []
