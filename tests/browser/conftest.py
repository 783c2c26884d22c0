"""One server and one browser for all tests of the page."""

import shutil

import pytest

from tests.fakes.ollama import fake_ollama

pytest.importorskip("selenium", reason="the extra `dev` has the driver of the browser")

from tools.page.browser import CHROMIUM, DRIVER, open_browser, open_site

NOTES = {
    "bread.md": (
        "---\ntags: [kitchen]\ndate: 2025-03-01\n---\n# Bread\n\n## Feeding\n\n"
        "Feed the starter once a week. See [soup](soup.md).\n\n"
        "## Baking\n\nBake the the loaf for forty minutes.\n"
    ),
    "soup.md": (
        "---\ntags: [kitchen, leeks]\ndate: 2025-04-02\n---\n# Soup\n\n"
        "Boil the leeks for forty minutes. The starter rests.\n"
    ),
    "korean.md": "---\nlang: ko\n---\n# 김치 담그기\n\n배추를 소금으로 여섯 시간 절인다.\n",
    "arabic.md": "---\nlang: ar\n---\n# القهوة\n\nتُغلى القهوة مع الماء عشر دقائق.\n",
    "hostile.md": """# Hostile zebra

<script>window.hacked = 1</script>
<img src=x onerror="window.hacked = 1"><iframe src="https://far.example/"></iframe>
<style>body { display: none }</style><form id="q"><button id="edit">Search</button></form>
<div style="position:fixed;inset:0;z-index:99" class="toast" id="app">covers the page</div>

![far](https://far.example/pixel.png) [run](javascript:window.hacked=1) [far](//far.example/a)

The zebra is [harmless](data:text/html,<script>1</script>).
""",
}


@pytest.fixture(scope="session")
def ollama():
    with fake_ollama("gemma3:4b") as server:
        yield server


@pytest.fixture(scope="session")
def site(tmp_path_factory, ollama):
    if not (CHROMIUM and DRIVER):
        pytest.skip("needs the programs `chromium` and `chromedriver`")
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree("samples/notes/work", folder / "notes" / "work")
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text, encoding="utf-8")
    environment = {"OLLAMA_HOST": ollama.url, "KEBAB_MODELS_LLM_MODEL": "gemma3:4b"}
    with open_site(folder / "home", folder / "notes", environment, ("--allow-write",)) as made:
        yield made


@pytest.fixture(scope="session")
def window(site):
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
    window.drain_logs()
    assert window.errors == []
    own = (site.url + "/", "data:", "about:", "chrome")
    assert [one for one in window.addresses if not one.startswith(own)] == []
