import re
from html.parser import HTMLParser

import pytest

from kebab.core.media import CHAT, DOCX, EMAIL, XLSX
from kebab.server.rendering import NOTEBOOK, Passage, RenderTask, locate_picture, render
from tests.hostile_notes import HOSTILE

ID = "0a" * 16
TAGS = """button a article b bdi blockquote br code del details div em figure h1 h2 h3 h4 h5 h6 hr
    img li mark ol p pre s section span strong summary table tbody td th thead tr ul"""
ATTRIBUTES = """alt aria-label class data-doc data-line data-lines data-mark data-marker decoding
    dir href id lang loading open rel role scope src start tabindex target title type"""


class Checker(HTMLParser):
    """Holds HTML to what a document may have."""

    def __init__(self):
        super().__init__()
        self.text, self.links, self.images, self.ids = "", [], [], []
        self.is_link = False

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS.split()
        values = dict(attrs)
        assert len(values) == len(attrs)
        assert set(values) <= set(ATTRIBUTES.split()), values
        self.links += [values["href"]] if "href" in values else []
        self.images += [values["src"]] if "src" in values else []
        assert not (tag == "a" and self.is_link), "a link in a link"
        self.is_link = self.is_link or tag == "a"
        self.ids += [values["id"]] if "id" in values else []

    def handle_endtag(self, tag):
        self.is_link = self.is_link and tag != "a"

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def check(html):
    checker = Checker()
    checker.feed(html)
    checker.close()
    for link in checker.links:
        assert re.match(r"https?://|mailto:|/\?doc=[0-9a-f]+$|#at-", link, re.IGNORECASE), link
    for image in checker.images:
        assert image.startswith(f"/read/{ID}/image?src="), image
    assert all(one.startswith("at-") for one in checker.ids)
    assert len(set(checker.ids)) == len(checker.ids)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e]", html)
    return checker


def show(text, media="text/markdown", **fields):
    return render(
        RenderTask(**{"doc_id": ID, "path": "a.md", "media": media, "text": text} | fields)
    )


@pytest.mark.parametrize(
    "media",
    ["text/markdown", "text/plain", "text/x-python", "text/csv", CHAT, DOCX, EMAIL, XLSX, NOTEBOOK],
)
def test_a_hostile_document_is_text(media):
    for text in HOSTILE:
        passage = Passage(1, 2, text[:20])
        check(show(text, media, passage=passage, links={"x": "<script>", "b": ID}, path="a.md"))


def test_the_check_can_fail():
    for html in ("<script>", "<p onclick=x>", "<a href='javascript:x'>", "<img src='//far'>"):
        with pytest.raises(AssertionError):
            check(html)


def test_markdown_has_its_blocks_links_and_lines(tmp_path):
    for name in ("img/loaf one.png", "img/loaf.png", "img/loaf.svg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    text = (
        "# Bread & *butter*\n\nSee [soup](soup.md#top), [[Soup|it]], [up](#bread-butter),"
        " [far](https://far.example/) and [no](gone.md).\n\n- [x] done\n- [ ] open\n\n"
        "```python\ndef f(): return 1\n```\n\n![[img/loaf one.png]] ![loaf](img/loaf.png)"
        " ![far](https://far.example/x.png) ![gone](img/gone.png) ![svg](img/loaf.svg)\n\n"
        "| a |\n|--:|\n| 1 |\n"
    )
    folder = (str(tmp_path / "a.md"), str(tmp_path))
    html = show(text, links={"soup.md": ID, "Soup": ID}, folder=folder)
    found = check(html)

    assert '<h1 data-lines="1" dir="auto" id="at-1-bread-butter" data-line="1">' in html
    assert found.links == [
        *(f"/?doc={ID}", f"/?doc={ID}", "#at-1-bread-butter", "https://far.example/")
    ]
    assert "<span>no</span>" in html
    assert 'rel="noopener noreferrer nofollow" target="_blank"' in html
    assert "☑ done" in found.text
    assert "☐ open" in found.text
    assert '<span class="hl-k">def</span>' in html
    source = f"/read/{ID}/image?src=img/loaf"
    assert found.images == [f"{source}%20one.png", f"{source}.png"]
    assert '<span class="picture">gone (img/gone.png)</span>' in html
    assert '<span class="picture">svg (img/loaf.svg)</span>' in html
    assert '<span class="picture">far (https://far.example/x.png)</span>' in html
    assert '<tr data-lines="16" dir="auto">\n<td class="align-right">1</td>' in html


@pytest.mark.parametrize(
    ("text", "media", "passage", "expected"),
    [
        (
            "a b\n\nThe **oven** is\nhot. Yes.",
            "text/markdown",
            Passage(3, 4, "oven is hot"),
            (
                '<p class="passage" data-lines="3-4" dir="auto">The <strong>'
                '<mark class="quote">oven</mark></strong><mark class="quote"> is\nhot</mark>. Yes.'
            ),
        ),
        (
            "# A\n\nb\n\nc",
            "text/markdown",
            Passage(1, 3),
            (
                '<h1 class="passage" data-lines="1" dir="auto" id="at-1-a" data-line="1">A</h1>\n'
                '<p class="passage" data-lines="3"'
            ),
        ),
        (
            "a\nb\nc",
            "text/x-python",
            Passage(2, 3),
            '<span class="line passage" data-lines="2">',
        ),
        ("one\n\ntwo", "text/plain", Passage(3, 3), '<p class="plain passage" data-'),
        (
            "h,i\n1,2\n3,4",
            "text/csv",
            Passage(3, 3),
            '<tr class="passage" data-lines="3">',
        ),
        (
            "a | b\nc | d\\|e",
            XLSX,
            Passage(2, 2),
            '<tr class="passage" data-lines="2">',
        ),
    ],
)
def test_the_passage_is_marked(text, media, passage, expected):
    html = show(text, media, passage=passage)

    assert expected in html


def test_a_part_begins_at_its_line_and_rows_keep_their_header():
    assert 'data-lines="41"' in show("x", first=41)
    html = show('3,"a\nb"\n5,6', "text/csv", first=7, head="h,i")
    assert "<thead><tr><th" in html
    assert '<tr data-lines="7-8">' in html
    assert '<tr data-lines="9">' in html


def test_what_its_author_marked_and_callouts_and_properties_are_shown_as_such():
    html = show(
        "---\na: 1\n---\n> [!tip]- Sharp *tools*\n> Use ==them== now. See [[b#C]].\n\n> [!note]\n"
    )
    check(html)

    assert '<details class="front" data-lines="1-3"><summary>Properties</summary>' in html
    assert '<blockquote class="callout tip">' in html
    assert '<strong class="callout-title">Sharp <em>tools</em></strong>Use ' in html
    assert '<mark class="written">them</mark>' in html
    assert "<span>b › C</span>" in html
    assert '<strong class="callout-title">Note</strong>' in html


def test_a_picture_lies_in_the_folder_of_the_source(tmp_path):
    note, folder = tmp_path / "source" / "a" / "note.md", tmp_path / "source"
    note.parent.mkdir(parents=True)
    for name in ("source/x.png", "source/x.svg", "out.png"):
        (tmp_path / name).touch()
    (folder / "y.png").symlink_to(folder / "x.svg")

    assert locate_picture(str(note), str(folder), "../x.png") == (folder / "x.png").resolve()
    wrong = ("../../out.png", "/x.png", "../x.svg", "../y.png", "gone.png", "", "..", "x\0.png")
    for source in (*wrong, "x" * 5_000 + ".png"):
        assert locate_picture(str(note), str(folder), source) is None
