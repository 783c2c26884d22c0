import pytest
from selectolax.lexbor import SelectolaxError

from kebab.parse.web.html_page import DROP, Page
from tests.shape.libraries import list_own_exceptions


def extract(html):
    return Page(html).extract_content()


def test_the_only_exception_of_the_library_is_translated(monkeypatch):
    def refuse(text):
        raise SelectolaxError(text)

    assert list_own_exceptions("selectolax") == {SelectolaxError}
    monkeypatch.setattr("selectolax.lexbor.LexborHTMLParser", refuse)
    with pytest.raises(ValueError, match="too long"):
        Page("too long")


def test_navigation_headers_and_footers_are_marked():
    content = extract(
        "<header>Site</header><nav>Menu</nav><p>Text</p><aside>Advert</aside><footer>Law</footer>"
        "<div role=dialog>We use cookies</div>"
    )

    assert content.count(DROP) == 5


def test_the_header_and_notes_of_an_article_are_kept():
    html = "<article><header>By Nora</header><aside>Note of the keeper</aside></article>"

    assert DROP not in Page(html + "<p>" + "long text " * 40).extract_content()


def test_a_dialog_is_read_when_it_is_open():
    content = extract(f"<dialog>Closed</dialog><dialog open>Open</dialog><p>{LONG}</p>")

    assert content.count(DROP) == 1
    assert content.index(DROP) < content.index("Closed")


LONG = "The lamp burns all night, and the keeper writes it down in his book. " * 4


@pytest.mark.parametrize(
    "html",
    [
        f"<article>{LONG}</article><article>Short</article><div><h1>Title</h1><p>{LONG}</p></div>",
        f"<header>{LONG}{LONG}<nav>Menu</nav></header><p>{LONG}</p>",
        f"<p>short</p><div style='display:none'>{LONG}</div><div hidden>{LONG}</div>",
        "<p>Please wait</p><div style='display:none'><p>The whole text of the page</p></div>",
    ],
)
def test_what_holds_most_of_the_text_is_read(html):
    assert not {"keeper", "whole"}.intersection(" ".join(read_omissions(html)).split())


@pytest.mark.parametrize(
    "main", ["<main>{}</main>", "<p role=main>{}</p>", "<article>{}</article>"]
)
def test_what_says_nothing_beside_the_main_element_is_left_out(main):
    beside = "<p>Share</p><p>The keeper of the lamp lives here.</p>"

    assert [*read_omissions(f"<div>{beside}</div>{main.format(LONG)}<p>Next")] == ["Next"]
    assert [*read_omissions(f"{beside}<div>{main.format(LONG)}</div>")] == ["Share"]


def read_omissions(html):
    page = Page(html)
    page.extract_content()
    return page.omissions.values()


def test_a_page_of_frames_is_empty():
    page = Page("<frameset><frame src=a.html></frameset>")

    assert (page.extract_content(), page.extract_body(), page.extract_body(hidden=False)) == (
        "",
        "",
        "",
    )
