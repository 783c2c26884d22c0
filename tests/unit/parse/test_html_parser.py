import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.documents import Metadata
from kebab.errors.catalog import ParseFailed
from kebab.parse import html
from kebab.parse.blocks import TextBuilder
from kebab.parse.html import HtmlParser, add_fragment

SAMPLES = Path("samples/formats")
WORDS = ["lamp", "oil", "\ub4f1\ub300", "caf\u00e9"]
TAG_NAMES = (
    "p div ul ol li table tr td th b h1 h3 pre code dl dt dd blockquote section span details"
    " figure br"
)
TAGS = st.sampled_from(TAG_NAMES.split())
PIECES = st.lists(st.tuples(TAGS, st.booleans(), st.sampled_from(WORDS)), max_size=40)


def parse(data, path="notes/a.html"):
    return HtmlParser().parse(data if isinstance(data, bytes) else data.encode(), path)


def parse_sample(name):
    return parse((SAMPLES / name).read_bytes(), name)


def test_a_page_of_pandoc_is_read():
    document = parse_sample("harbour-pandoc.html")

    assert document.metadata == Metadata(
        title="Harbour lamps", lang="en", authors=("Nora Lind",), date="2024-03-05"
    )
    assert document.links == ("tides.html", "log/2024.md")
    assert "1. Fill the tank to the red line.\n2. Trim the wick:\n  - short in" in document.text
    assert "| North pier | 2.4 l | Aino |" in document.text
    assert "```python\ndef refill(lamp):\n    return" in document.text
    assert "> A dark lamp is a lost boat." in document.text
    assert "Fog bell\n: Rings four times" in document.text


def test_a_page_of_libreoffice_is_read():
    document = parse_sample("harbour-libreoffice.html")

    assert document.title == "Harbour lamps"
    assert document.lang == "en"
    assert "## Oil\n\n1. Fill the tank" in document.text
    assert "| Lamp | Oil a night | Keeper |\n|---|---|---|\n| North pier" in document.text


def test_a_saved_page_has_its_text_and_nothing_else():
    document = parse_sample("kimchi-chromium.html")

    assert document.title == "\uae40\uce58\ub0c9\uc7a5\uace0 \uc628\ub3c4 \uc124\uc815"
    assert document.metadata.tags == ("\uae40\uce58", "\ub0c9\uc7a5\uace0")
    assert document.metadata.date == "2024-11-02T00:30:00Z"
    assert "\uc601\ud558 1.5\ub3c4\uc5d0\uc11c" in document.text
    for junk in (
        "\ucfe0\ud0a4",
        "\uacf5\uc720",
        "\uc228\uc740",
        "\uc800\uc791\uad8c",
        "\ud648",
        "\u00b6",
    ):
        assert junk not in document.text


def test_an_export_of_hangul_has_words_headings_and_tables():
    document = parse_sample("lighthouse-hangul-cp949.html")

    assert document.encoding == "cp949"
    assert document.lang == "ko"
    assert document.text.startswith(
        "# \uc810\uac80 \uacb0\uacfc\n\n\ub3d9\ud574 \ub4f1\ub300\uc758"
    )
    assert "\ub2e6\ub294\ub2e4. \uc228\ubc49\uae30 \ub620\ubc29\uac01\ud558." in document.text
    assert "## \uc804\uad6c \uad50\uccb4" in document.text
    assert "| \uc18d\ucd08 | 3\uc6d4 9\uc77c |" in document.text


def test_a_page_of_links_alone_is_read():
    document = parse("<nav><ul><li><a href=a.html>First note</a><li>Second</ul></nav>")

    assert document.text == "- First note\n- Second"
    assert document.links == ("a.html",)


def test_the_name_of_the_site_is_not_the_title():
    page = "<title>Oil - Harbour</title><header><h1>Harbour</h1></header><main><h2>Oil</h2><p>x"

    assert parse(page).title == "Oil"


def test_a_page_without_a_title_is_called_after_its_heading_or_its_file():
    assert parse("<h1>Oil</h1>").title == "Oil"
    assert parse("<p>x").title == "a"


@pytest.mark.parametrize("open_tag", ["<div>", "<ul><li>", "<b>", "<table><tr><td>", "<span>"])
def test_any_depth_is_read_in_bounded_time(open_tag):
    begun = time.process_time()
    document = parse(open_tag * 100_000 + "deep &amp; down")

    assert document.text == "deep & down"
    assert document.warnings == (
        "elements are nested more than 5,000 levels deep: read without structure",
    ) or open_tag.startswith("<table")
    assert time.process_time() - begun < 10


def test_a_page_that_the_library_refuses_is_damaged(monkeypatch):
    def refuse(text):
        raise ValueError(text)

    monkeypatch.setattr(html, "read_parts", refuse)
    with pytest.raises(ParseFailed) as refusal:
        parse("too long")
    assert refusal.value.cause == "damaged: too long"
    assert refusal.value.parser == "html-v1"


@given(pieces=PIECES)
def test_every_word_of_a_page_without_a_main_element_is_kept(pieces):
    page = "".join(f"<{'/' if end else ''}{tag}>\n{word} " for tag, end, word in pieces)
    words = [word for _, _, word in pieces]
    text = parse(f"<meta charset=utf-8><body>{page}").text
    found = "".join(char if char.isalpha() else " " for char in text).split()

    assert sorted(found) == sorted(words)


def test_a_fragment_is_read_whole():
    builder = TextBuilder()

    assert add_fragment(builder, "<nav>a</nav><p>b<p style='display:none'>c") is None
    assert builder.build("a").text == "a\n\nb"
    assert "5,000" in (add_fragment(builder, "<div>" * 100_000) or "")
