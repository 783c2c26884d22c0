import re
from urllib.parse import urlencode

import pytest

from kebab.review.items import swap_copy
from kebab.server.page import HEADERS
from tests.unit.server.conftest import ORIGIN

OWN = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}
JSON = {"Accept": "application/json", "Content-Type": "application/json"}
PAGES = (
    "/",
    "/?q=oven",
    "/read/bread.md",
    "/read/x/image?src=a.png",
)


def test_a_browser_that_is_not_let_in_is_told_how(make_browser):
    browser = make_browser(is_in=False)

    for path in PAGES:
        answer = browser.get(path)
        assert answer.status_code == 401
        assert "kebab open --web" in answer.text
        assert "bread" not in answer.text.lower()
    assert browser.get("/", headers={"Accept": "*/*"}).json()["code"] == "unauthorized"


def test_a_ticket_lets_one_browser_in_and_leads_to_the_search(make_browser, ticket):
    browser, other = make_browser(is_in=False), make_browser(is_in=False)
    path = f"/login?ticket={ticket()}&q=oven"
    answer = browser.get(path)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/?q=oven")
    assert answer.headers["Set-Cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert "ticket" not in answer.headers["Location"]
    assert browser.get("/?q=oven").status_code == 200
    assert other.get(path).status_code == 401
    assert other.get("/login").status_code == 401


def test_every_answer_of_the_page_has_the_policy(browser, find_doc):
    doc = find_doc("bread.md")

    for path in ("/", "/login", f"/read/{doc}", f"/read/{doc}/image?src=loaf.png"):
        found = browser.get(path).headers
        for name, value in HEADERS.items():
            assert value.startswith(found[name]) or name == "Content-Security-Policy"
        assert found["Content-Security-Policy"].startswith("default-src 'none'; s")


def test_snippets_are_rendered_with_their_marks(browser):
    texts = [{"text": "# Oven\n\n- a *hot* oven", "marks": [[10, 21]]}, {"text": "<b>"}]
    answer = browser.post("/page/render", json={"texts": texts}, headers={**OWN, **JSON})

    first, second = answer.json()["html"]
    assert '<mark class="hit" data-mark="0">' in first
    assert "&lt;b&gt;" in second
    wrong = browser.post("/page/render", json={"texts": 1}, headers={**OWN, **JSON})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_input")


def test_a_document_has_its_facts(browser, find_doc):
    html = browser.get(f"/read/{find_doc('soup.md')}").text

    assert html.startswith(f'<article class="doc" dir="ltr" data-doc="{find_doc("soup.md")}"')
    assert 'data-lines="1-3"' in html


@pytest.mark.parametrize("at", ["3", "L3-L3", "bread.md#L3", "bread.md:3"])
def test_a_passage_is_named_by_lines_or_a_reference(browser, find_doc, at):
    query = urlencode({"at": at, "quote": "water. The oven"})
    html = browser.get(f"/read/{find_doc('bread.md')}?{query}").text

    assert html.count('class="passage"') == 1
    assert re.sub("<[^>]*>", "", "".join(re.findall('<mark class="quote">.*?</mark>', html))) == (
        "water. The oven"
    )


def test_a_passage_of_another_document_is_said_to_be_missing(browser, find_doc):
    html = browser.get(f"/read/{find_doc('bread.md')}?at=soup.md%23L3").text

    assert "note: this document has no such passage: soup.md#L3" in html
    assert "passage" not in html.partition("doc-body")[2]


def test_a_long_document_comes_in_parts(browser, find_doc):
    doc = find_doc("long.md")
    html = browser.get(f"/read/{doc}").text
    lines = [int(one) for one in re.findall(r'data-line="(\d+)"', html)]
    following = re.search(r'data-from="(\d+)"', html)

    assert "earlier lines" not in html
    assert following
    assert int(following[1]) == lines[-1] + 4
    middle = browser.get(f"/read/{doc}?at=1801").text
    assert "earlier lines" in middle
    assert "later lines" in middle
    assert 'class="passage"' in middle
    assert "later lines" not in browser.get(f"/read/{doc}?from=99999").text
    assert browser.get(f"/read/{doc}?from=-1").text == html


def test_a_pdf_is_shown_by_its_pages_and_a_key_is_masked(browser, find_doc):
    html = browser.get(f"/read/{find_doc('report.pdf')}").text

    assert '<section class="page" data-page="2"><p class="page-number">page 2</p>' in html
    assert "The kiln is cold." in html
    assert "AKIA••••" in browser.get(f"/read/{find_doc('key.pdf')}").text


@pytest.mark.parametrize(
    "source",
    ["../secret.png", "out.png", "/etc/passwd", "page.png.html", "soup.md", "gone.png", "", ".",
     "%00.png", "..%2fsecret.png", "notes/../../secret.png", "https://far.example/x.png"],
)  # fmt: skip
def test_only_pictures_of_the_own_folder_are_sent(browser, find_doc, source):
    path = f"/read/{find_doc('bread.md')}/image?src="

    assert browser.get(path + source).status_code == 404
    assert browser.get(path + "loaf.png").headers["Content-Type"] == "image/png"


@pytest.mark.parametrize(
    "path",
    ["/static/../application.py", "/static/%2e%2e/application.py",
     "/read/..%2f..%2fetc%2fpasswd",  "/read/%00", "/page/../v1/search",
      "/static/", "/read/"],
)  # fmt: skip
def test_no_path_leads_out(browser, path):
    answer = browser.get(path)

    assert answer.status_code in {404, 405}
    assert "root:" not in answer.text


def test_a_line_that_is_no_number_is_refused(browser):
    answer = browser.get("/read/bread.md?from=x", headers=JSON)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


def test_the_editor_opens_for_this_machine_only(browser, make_browser, opened):
    wanted = {"doc": "bread.md", "line": 3}

    assert browser.post("/page/open", json=wanted, headers=OWN).status_code == 204
    assert opened == [("bread.md", 3)]
    far = make_browser(client="10.0.0.2")
    assert 'data-can-open="false"' in far.get("/").text
    assert far.post("/page/open", json=wanted, headers=OWN).status_code == 400
    for wrong in ({}, {"doc": 1}, {"doc": "bread.md", "line": 0}, {"doc": "x", "run": "rm"}):
        assert browser.post("/page/open", json=wrong, headers={**OWN, **JSON}).status_code == 422
    missing = browser.post("/page/open", json={"doc": "gone"}, headers={**OWN, **JSON})
    assert (missing.status_code, missing.json()["schema_version"]) == (404, "not_found.v1")
    assert opened == [("bread.md", 3)]


def test_an_undo_needs_the_permission_to_write_and_a_copy_of_the_document(browser, base):
    wanted = {"doc": "bread.md", "backup": "bread.md.orig"}

    answer = browser.post("/page/undo", json=wanted, headers={**OWN, **JSON})
    assert (answer.status_code, answer.json()["code"]) == (403, "read_only")
    for name in ("soup.md", "../secret.png", "bread.md.orig", "out.png", ""):
        assert not swap_copy(base / "notes" / "bread.md", name)


def test_the_session_asks_the_operations_with_the_rights_of_the_server(browser):
    assert browser.post("/v1/search", json={"query": "oven"}, headers=OWN).json()["hits"]
    answer = browser.post("/v1/ingest_text", json={"text": "eA==", "title": "t"}, headers=OWN)
    assert (answer.status_code, answer.json()["code"]) == (403, "read_only")
    assert browser.post("/logout", headers={**OWN, "Origin": "null"}).status_code == 200
    assert browser.post("/v1/search", json={"query": "oven"}, headers=OWN).status_code == 401


def test_files_of_the_page_are_kept_by_the_browser_while_they_are_the_same(browser):
    served = browser.get("/static/app.css")
    again = browser.get("/static/app.css", headers={"If-None-Match": served.headers["ETag"]})

    assert (served.status_code, again.status_code) == (200, 304)
    for answer in (served, again):
        assert answer.headers["Cache-Control"] == "no-cache"
        assert answer.headers["X-Frame-Options"] == "DENY"
    assert browser.get("/static/app.js").headers["Content-Type"].startswith("text/javascript")
    assert "&quot;application/pdf&quot;: &quot;PDF&quot;" in browser.get("/").text


def test_reading_changes_nothing_by_get_and_posts_say_their_origin(browser, opened):
    for path in ("/logout", "/page/open", "/v1/search"):
        assert browser.get(path).status_code == 405
    for headers in ({}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = browser.post("/page/open", json={"doc": "bread.md"}, headers=headers)
        assert answer.status_code == 401
    foreign = {**OWN, "Origin": "http://127.0.0.1:3000"}
    assert browser.post("/page/open", json={"doc": "bread.md"}, headers=foreign).status_code == 403
    assert not opened
