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
WORDS = ["lamp", "oil", "등대", "caf\u00e9"]
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

    assert document.title == "김치냉장고 온도 설정"
    assert document.metadata.tags == ("김치", "냉장고")
    assert document.metadata.date == "2024-11-02T00:30:00Z"
    assert "영하 1.5도에서" in document.text
    for junk in (
        "쿠키",
        "공유",
        "숨은",
        "저작권",
        "홈",
        "\u00b6",
    ):
        assert junk not in document.text


def test_an_export_of_hangul_has_words_headings_and_tables():
    document = parse_sample("lighthouse-hangul-cp949.html")

    assert document.encoding == "cp949"
    assert document.lang == "ko"
    assert document.text.startswith("# 점검 결과\n\n동해 등대의")
    assert "닦는다. 숨뱉기 똠방각하." in document.text
    assert "## 전구 교체" in document.text
    assert "| 속초 | 3월 9일 |" in document.text


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
