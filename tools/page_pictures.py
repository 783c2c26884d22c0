"""Takes the pictures of the page: `python -m tools.page_pictures [FOLDER]`.

The notes are the samples, and a few in other scripts. The model that answers is a script.
"""

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tests.browser.browser import Site, Visitor, open_browser, open_site
from tests.fakes.ollama import Say, fake_ollama

FOLDER = Path("docs/pictures")
SAMPLES = Path(__file__).resolve().parents[1] / "samples" / "notes"
NOTES = {
    "kyoto.md": (
        "---\ntags: [旅行]\ndate: 2025-11-20\nlang: ja\n---\n# 京都の秋\n\n## 紅葉の見ごろ\n\n"
        "東福寺の紅葉は十一月の下旬が見ごろです。朝八時に着くと、通天橋をゆっくり渡れます。\n"
    ),
    "qahwa.md": (
        "---\ntags: [مطبخ]\ndate: 2025-06-03\nlang: ar\n---\n"
        "# القهوة العربية\n\n## التحضير\n\n"
        "تُغلى القهوة المحمصة مع الماء عشر دقائق، ثم يضاف الهيل والزعفران وتُترك لتهدأ.\n"
    ),
    "work/migration.md": """\
---
tags: [work/database]
date: 2025-08-02
---
# Database migration

It follows from the [incident](incident-2024-03.md) and the rules of [backups](backups.md).

| step | who | duration |
|---|---|---|
| Freeze writes | Mira | 5 min |
| Copy | Jonas | 40 min |

The the old server stays on for a week.

## The copy

```python
def copy(name: str, workers: int = 2) -> int:
    return sum(write(batch) for batch in read(name))
```
""",
}
_COLOURS = 128
QUESTION = "What is checked first when a restore fails?"
SHOTS = (
    ("page-search", "/?q=feed+the+starter", 1280, "light"),
    ("page-dark", "/?q=database+migration", 1280, "dark"),
    ("page-phone", "/?q=القهوة", 360, "light"),
    ("page-wide", "/?q=김치+양념", 2560, "light"),
    ("page-links", "/?view=graph&q=database+migration", 1280, "light"),
    ("page-review", "/?q=database+migration&review", 1280, "light"),
)


def shrink(picture: bytes) -> bytes:
    """Return a PNG with a palette, a third as large."""
    small = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as opened:
        palette = opened.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
        palette.save(small, "PNG", optimize=True)
    return small.getvalue()


def write_notes(folder: Path) -> Path:
    """Write the notes of the pictures; return their folder."""
    notes = folder / "notes"
    shutil.copytree(SAMPLES, notes)
    for name, text in NOTES.items():
        (notes / name).write_text(text, encoding="utf-8")
    return notes


def take_picture(page: Visitor, site: Site, path: str, view: tuple[int, str]) -> bytes:
    """Open the first hit of a search in the view of an address, and return the picture."""
    width, scheme = view
    page.resize(width, {360: 740, 2560: 1300}.get(width, 800))
    page.prefer(scheme)
    page.driver.get(site.url + path.replace("view=graph&", ""))
    page.wait_for("#results[aria-busy=false] .title")
    page.run("document.querySelector('.hits .title').click()")
    page.wait_for("#reader .margin")
    if "view=graph" in path:
        page.run("document.querySelector('.tools button:last-child').click()")
        page.wait_for("canvas")
    if path.endswith("review"):
        page.run("document.getElementById('review').click()")
        page.wait_for(".finding button", "Show the change")
        page.run("[...document.querySelectorAll('.finding button')].at(-1).click()")
        page.wait_for(".diff")
    page.run("return new Promise(end => setTimeout(end, 300))")
    return page.driver.get_screenshot_as_png()


def take_answer(page: Visitor, site: Site) -> bytes:
    """Ask a question, open its citation, and return the picture."""
    page.resize(1280)
    page.prefer("light")
    page.driver.get(f"{site.url}/?view=ask")
    page.wait_for("#question")
    page.driver.find_element("id", "question").send_keys(QUESTION, "\ue007")
    page.wait_for(".answer-text .marker")
    page.run("document.querySelector('.answer-text .marker').click()")
    page.wait_for("#reader .margin nav")
    return page.driver.get_screenshot_as_png()


def main() -> None:
    """Take every picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    with tempfile.TemporaryDirectory() as name, fake_ollama("gemma3:4b") as ollama:
        ollama.enqueue(Say("The repository is checked first with `restic check` [2]."))
        notes = write_notes(Path(name))
        environment = {"OLLAMA_HOST": ollama.url, "KEBAB_MODELS_LLM_MODEL": "gemma3:4b"}
        with (
            open_site(Path(name) / "home", notes, environment) as site,
            open_browser() as page,
        ):
            page.driver.get(site.build_login())
            for shot, path, width, scheme in SHOTS:
                picture = take_picture(page, site, path, (width, scheme))
                (folder / f"{shot}.png").write_bytes(shrink(picture))
            (folder / "page-answer.png").write_bytes(shrink(take_answer(page, site)))


if __name__ == "__main__":
    main()
