import pytest
from selectolax.lexbor import LexborHTMLParser

from kebab.parse.html_page import read_metadata, shorten_title


def read(html):
    return read_metadata(LexborHTMLParser(html))


def test_the_head_gives_title_authors_date_and_keywords():
    metadata = read(
        "<html lang=ko-KR><title> A\n note </title><meta name=Author content='Nora Lind'>"
        "<meta property='article:published_time' content='2024-11-02T09:30:00+09:00'>"
        "<meta name=keywords content='lamps, oil,lamps,'>"
    )

    assert metadata.title == "A note"
    assert metadata.authors == ("Nora Lind",)
    assert metadata.date == "2024-11-02T00:30:00Z"
    assert metadata.tags == ("lamps", "oil")
    assert metadata.lang == "ko"


def test_a_page_that_says_nothing_has_no_metadata():
    assert read("<p>x") == (None, (), None, (), None, ())


@pytest.mark.parametrize(
    ("html", "date"),
    [
        (
            '<script type="application/ld+json">{"datePublished": "2023-01-05"}</script>',
            "2023-01-05",
        ),
        ("<p>x <time datetime='2022-02-03'>then</time>", "2022-02-03"),
        ("<meta name=dc.date content='2021/3/4'>", "2021-03-04"),
        ("<meta name=date content=yesterday>", None),
    ],
)
def test_the_date_is_found_wherever_it_stands(html, date):
    assert read(html).date == date


@pytest.mark.parametrize("title", ["Untitled", "untitled document", "", "Index"])
def test_a_title_that_names_no_page_is_none(title):
    assert read(f"<title>{title}</title>").title is None


def test_the_title_for_sharing_replaces_a_missing_one():
    assert read("<meta property='og:title' content='Lamps'>").title == "Lamps"


@pytest.mark.parametrize(
    ("title", "heading", "short"),
    [
        ("Lamps - Harbour Site", "Lamps", "Lamps"),
        ("Harbour Site | Lamps", "Lamps", "Lamps"),
        ("What is oil? - Harbour", "What Is Oil?", "What Is Oil?"),
        ("Lamps", "Lamps", "Lamps"),
        ("A-B tests", "B tests", "A-B tests"),
        ("Lamps - Harbour Site", "Oil", "Lamps - Harbour Site"),
        ("Lamps - Harbour Site", "", "Lamps - Harbour Site"),
    ],
)
def test_the_name_of_the_site_is_left_out_of_the_title(title, heading, short):
    assert shorten_title(title, [heading]) == short


def test_keywords_are_bounded():
    assert len(read(f"<meta name=keywords content='{','.join(map(str, range(99)))}'>").tags) == 20
    assert read(f"<meta name=keywords content='{'x' * 99}'>").tags == ()
