from msgspec.structs import replace

from kebab.app.dispatch import report_failure
from kebab.errors.catalog import IoError
from kebab.web.pages import Shell, build_bar, build_entrance, build_error, build_page, build_results
from tests.fakes import replies

FIELDS = {"q": ["a"], "tag": ["x"], "from": ["3"]}


def test_a_page_names_its_assets_and_what_it_may_do():
    links = {name: f"/static/{name}?v=1" for name in ("app.css", "app.js", "icon.svg", "part.js")}
    page = build_page(Shell(links, ["part.js"], allow_write=True), "a <b>", []).decode()

    assert '<link rel="stylesheet" href="/static/app.css?v=1">' in page
    assert '<link rel="modulepreload" href="/static/part.js?v=1">' in page
    assert '<script type="module" src="/static/app.js?v=1"></script>' in page
    assert '<link rel="icon" type="image/svg+xml" href="/static/icon.svg?v=1">' in page
    assert "<title>a &lt;b&gt;</title>" in page
    assert 'data-allow-write="true" data-can-open="false"' in page
    assert "script" not in build_entrance(Shell(links)).decode()


def test_the_form_keeps_what_was_asked():
    bar = build_bar({"q": ['"a" <b>'], "tag": ["x", "y"]})

    assert 'value="&quot;a&quot; &lt;b&gt;"' in bar
    assert '<input name="tag" value="x, y" size="12">' in bar
    assert '<details class="filters" open>' in bar
    assert "open>" not in build_bar({})


def test_titles_and_paths_cannot_imitate_the_page():
    hit = replies.hit(title="in\u202evoice\n</a><form>", doc_path="a/\u2066b.md")
    html = build_results(replies.response(hit), FIELDS)

    assert "<bdi>invoice &lt;/a&gt;&lt;form&gt;</bdi>" in html
    assert "<bdi>a/b.md" in html
    assert f'href="/?q=a&amp;tag=x&amp;doc={hit.doc_id}&amp;at={hit.chunk_id}#passage"' in html


def test_matches_are_marked_and_nothing_else_is_html():
    hit = replies.hit(snippet="<b>oven</b> oven", highlights=[(3, 7), (5, 9), (12, 16)])
    html = build_results(replies.response(hit), {})

    assert "&lt;b&gt;<mark>oven</mark>&lt;/b&gt; <mark>oven</mark></p>" in html


def test_an_error_has_its_words():
    reply = report_failure("search", IoError(path="<x>", op="read", cause="no"), None).reply
    page = build_error(Shell({}), replace(reply, hint="kebab doctor")).decode()

    assert "&lt;x&gt;" in page
    assert "<code>io_error</code>" in page
    assert "kebab doctor" in page
