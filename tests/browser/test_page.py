"""The page in a real browser: what is typed, pressed and seen."""

import json

import pytest

pytest.importorskip("selenium", reason="the extra `browser` has the driver of the page")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.fakes.ollama import Fail, Say

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(120)]
LIST = """return fetch("/v1/list", {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify({path_glob: arguments[0]}),
}).then(one => one.json()).then(one => one.documents)"""
HARM = """
const faults = window.hacked ? ["a script ran"] : [];
for (const one of document.querySelectorAll("#reader .doc *, #results *")) {
  if (!one.closest(".doc") && !/^(SCRIPT|IFRAME|IMG|STYLE|FORM)$/.test(one.tagName)) continue;
  const allowed = [
    /^(A|B|BDI|BR|CODE|DEL|EM|HR|IMG|MARK|S|SPAN|STRONG|TABLE|TBODY|TD|TH|THEAD|TR)$/,
    /^(ARTICLE|BLOCKQUOTE|DETAILS|SUMMARY|DIV|H[1-6]|HEADER|LI|OL|P|PRE|SECTION|UL)$/,
  ];
  if (!allowed.some(names => names.test(one.tagName))) faults.push(one.outerHTML);
  if (one.id && document.querySelectorAll("#" + CSS.escape(one.id)).length > 1) faults.push(one.id);
  if (getComputedStyle(one).position !== "static") faults.push(`placed: ${one.outerHTML}`);
  for (const {name} of one.attributes) if (/^(on|style)/.test(name)) faults.push(name);
  const target = one.getAttribute("href") ?? one.getAttribute("src");
  const isSafe = one.tagName === "IMG" ? /^\\/read\\// : /^(https?:|mailto:|\\/\\?doc=|#at-)/i;
  if (target !== null && !isSafe.test(target)) faults.push(target);
}
if (!document.elementFromPoint(30, 30).closest("#bar")) faults.push("the bar is covered");
return faults;"""
SHOW = "history.pushState({}, '', arguments[0]); dispatchEvent(new PopStateEvent('popstate'))"
FIND = """return [...document.querySelectorAll(arguments[0])]
    .some(one => one.textContent.includes(arguments[1]))"""
VIEWS = ("/?q=starter", "/?view=ask", "/?view=timeline", "/?view=graph", "/?view=status")


def press(page, *keys):
    ActionChains(page.driver).send_keys(*keys).perform()


def click(page, selector, text=""):
    script = """const found = [...document.querySelectorAll(arguments[0])]
        .find(one => one.textContent.includes(arguments[1]));
        found?.click(); return Boolean(found)"""
    page.wait(lambda: page.run(script, selector, text), f"click {selector} {text}")


def get_focus(page):
    return page.run("return document.activeElement.id || document.activeElement.className")


def open_document(visit, site, query):
    page = visit(f"/?q={query}")
    click(page, ".hits .title")
    page.wait_for("#reader .doc-body")
    return page


def test_keys_alone_search_open_read_and_go_back(visit):
    page = visit()
    page.wait(lambda: get_focus(page) == "q", "the focus is in the field")
    press(page, "starter")
    page.wait_for("#results[aria-busy=false] .summary", "3 hits")
    press(page, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
    page.wait(lambda: get_focus(page) == "reader", "the focus is in the reader")
    page.wait_for("#reader .passage")
    assert "q=starter" in page.driver.current_url
    press(page, Keys.ESCAPE)
    page.wait(lambda: not page.run("return document.getElementById('reader')"), "closed")
    page.driver.back()
    page.wait_for("#reader .passage")
    press(page, "?")
    page.wait_for("dialog", "Keyboard")
    press(page, Keys.ESCAPE)
    page.wait(lambda: not page.run("return document.querySelector('dialog')"), "no dialog")
    page.run("document.activeElement.blur()")
    press(page, "5")
    page.wait_for("h1", "ealthy")


def test_two_letters_of_korean_are_searched_and_one_of_latin_is_not(visit):
    page = visit()
    page.wait(lambda: get_focus(page) == "q", "the focus is in the field")
    press(page, "배추")
    page.wait_for(".hits .title", "김치")
    press(page, Keys.BACKSPACE, Keys.BACKSPACE, "xy")
    page.wait_for(".summary", "Type a little more")
    press(page, Keys.ENTER)
    page.wait_for(".summary", "no results so far")


def test_filters_have_counts_of_what_the_others_leave_and_become_chips(visit):
    page = visit("/?q=minutes")
    click(page, ".menu summary", "Language")
    click(page, ".menu[open] label", "Korean")
    page.wait_for(".chip", "Korean")
    assert "lang=ko" in page.driver.current_url
    page.wait(lambda: not page.run(FIND, ".menu label", "kitchen"), "no Korean note has the tag")
    click(page, ".chip")
    page.wait_for(".hits .title", "Soup")
    click(page, ".menu summary", "Property")
    click(page, ".menu label", "kind: starter")
    page.wait_for(".summary", "1 hit")
    click(page, ".chip")
    click(page, ".menu summary", "Folder")
    click(page, ".menu label", "work")
    page.wait_for(".summary", "no results")
    assert "folder=work" in page.driver.current_url


def test_a_question_offers_to_be_asked_and_enter_asks_it(visit, ollama):
    ollama.enqueue(Fail("bad_think"), Say("Check the repository first with `restic check` [2]."))
    page = visit("/?q=What is checked first when a restore fails?")
    page.wait_for(".ask-this", "Ask this")
    page.wait(lambda: get_focus(page) == "q", "the focus is in the field")
    press(page, Keys.ENTER)
    page.wait_for(".turn .failure")
    page.wait_for(".turn h2", "What is checked first")
    page.wait_for(".turn .buttons", "Answer with quotes")
    page.wait_for(".turn .hits .title")
    click(page, ".turn button", "Retry")
    page.wait_for(".answer-text .marker", "1")
    click(page, "#bar nav a", "Status")
    click(page, "#bar nav a", "Ask")
    page.wait_for(".answer-text .marker", "1")
    click(page, "#results > button", "New conversation")
    page.wait_for("[aria-label=Examples] button", "?")


def test_a_right_to_left_document_is_read_from_the_right(visit, site):
    page = open_document(visit, site, "القهوة")
    direction = "return getComputedStyle(document.querySelector('.doc-body h1')).direction"
    assert page.run(direction) == "rtl"


def test_properties_are_folded_and_the_passage_has_one_bar(visit, site):
    page = open_document(visit, site, "leeks")
    page.wait_for(".doc-body details:not([open]) summary", "Properties")
    page.wait_for(".doc-body .callout .callout-title", "Serving")
    script = "return getComputedStyle(document.querySelector('.rendered'), '::before').height"
    page.wait(lambda: float(page.run(script).removesuffix("px")) > 40, "the bar")


def test_the_margin_has_links_and_follows_them(visit, site):
    page = open_document(visit, site, "baking")
    click(page, ".margin a", "Soup")
    page.wait_for(".doc-body h1", "Soup")
    page.wait_for(".margin h2", "Linked from")
    click(page, ".tools button", "Show links")
    page.wait_for(".graph .summary", "2 documents, 1 link")
    click(page, ".graph button", "All documents")
    page.wait_for(".doc-links h2", "The most linked first")
    click(page, ".zoom button", "+")
    page.wait(
        lambda: page.run("return document.querySelector('canvas').dataset.zoom > 1"), "larger"
    )


def test_an_answer_is_streamed_and_its_citation_marks_the_sentence(visit, ollama):
    ollama.enqueue(Say("Check the repository first ", "with `restic check` [2]."))
    page = visit("/?view=ask")
    page.wait_for("#question")
    page.driver.find_element(By.ID, "question").send_keys(
        "What is checked first when a restore fails?", Keys.ENTER
    )
    page.wait_for(".answer-text .marker", "1")
    click(page, ".answer-text .marker")
    page.wait_for("#reader mark.quote", "Check the repository first")
    page = visit("/?view=ask")
    click(page, "[aria-label=Sessions] button", "What is checked first")
    page.wait_for(".turn .answer-text", "Check the repository first")


def test_an_unsupported_answer_is_shown_as_refused(visit, ollama):
    ollama.enqueue(*[Say("NOT_IN_NOTES")] * 3)
    page = visit("/?view=ask")
    page.wait_for("#question")
    page.driver.find_element(By.ID, "question").send_keys(
        "What is checked first when a restore fails?", Keys.ENTER
    )
    page.wait_for(".verdict.refused", "the passages do not answer it")


def test_a_fix_is_written_after_its_change_is_shown_and_can_be_undone(visit, site):
    before = (site.notes / "bread.md").read_text()
    page = open_document(visit, site, "baking")
    click(page, "#review")
    click(page, ".finding button", "Show the change")
    page.wait_for(".finding .removed", "recieve")
    gap = """const top = one => document.querySelector(one).getBoundingClientRect().top;
        const line = document.querySelector(".finding").dataset.line;
        return Math.abs(top(".finding") - top(`.doc-body [data-lines="${line}"]`)) < 3"""
    page.wait(lambda: page.run(gap), "the finding is beside its line")
    assert (site.notes / "bread.md").read_text() == before
    click(page, ".finding button", "Apply")
    page.wait_for(".applied", "bread.md.orig")
    assert (site.notes / "bread.md").read_text() == before.replace("recieve", "receive")
    click(page, ".applied button", "Undo")
    page.wait_for(".toast", "Undone")
    assert (site.notes / "bread.md").read_text() == before


def test_hostile_documents_stay_text(visit, site):
    page = visit("/?q=zebra")
    page.wait_for(".hits .title")
    documents = page.run(LIST, "hostile/*")
    found = {"list": page.run(HARM)}
    for document in documents:
        page.run(SHOW, f"/?q=zebra&doc={document['doc_id']}")
        page.wait_for(f"#reader[aria-busy=false] .doc[data-doc='{document['doc_id']}']")
        found[document["doc_path"]] = page.run(HARM)

    assert len(documents) >= 40
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_each_kind_of_document_is_shown_as_what_it_is(visit, site):
    page = visit()
    parts = {
        "report.pdf": ".page .page-number",
        "tides.ipynb": "pre code [class^=hl-]",
        "oil.eml": ".doc-body p",
        "retry.py": "pre.code .line .hl-k",
        "work/backups.md": ".table td",
    }
    for path, selector in parts.items():
        # A mail has its attachments behind it.
        document = next(one for one in page.run(LIST, path) if one["doc_path"].endswith(path))
        page.run(SHOW, f"/?doc={document['doc_id']}")
        page.wait_for(f".doc[data-doc='{document['doc_id']}'] {selector}")


@pytest.mark.parametrize("width", [360, 1280, 2560])
def test_nothing_is_wider_than_the_window(visit, site, width):
    page = visit()
    try:
        page.resize(width)
        open_document(visit, site, "starter")
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")
        if width > 360:  # the list and the reader scroll, and the window does not
            assert page.run("return document.documentElement.scrollHeight <= innerHeight")
        reader_only = "return getComputedStyle(document.getElementById('results')).display"
        assert (page.run(reader_only) == "none") == (width == 360)
    finally:
        page.resize(1280)


def test_an_open_document_follows_the_size_of_the_window(visit, site):
    page = open_document(visit, site, "starter")
    shown = "return getComputedStyle(document.getElementById('results')).display !== 'none'"
    assert page.run(shown)
    try:
        page.resize(360, 400)
        page.wait(lambda: not page.run(shown), "the reader alone")
        page.run("scrollTo(0, document.body.scrollHeight)")
        top = "return document.querySelector('.back').getBoundingClientRect().top"
        page.wait(lambda: 0 <= page.run(top) < 50, "the way back stays at the top")
        click(page, ".tools .back")
        page.wait(lambda: page.run(shown), "the list again")
    finally:
        page.resize(1280)


def test_the_colours_can_be_chosen_and_stay(visit):
    page = visit()
    get_paper = "return getComputedStyle(document.body).backgroundColor"
    light = page.run(get_paper)
    try:
        click(page, "#bar button", "Colours: auto")
        page.wait(lambda: page.run(get_paper) != light, "dark colours")
        dark = page.run(get_paper)
        assert visit().run(get_paper) == dark
    finally:
        page.run("localStorage.clear()")


def test_the_timeline_shows_the_documents_of_a_month(visit):
    page = visit("/?view=timeline")
    click(page, ".years summary", "2025")
    click(page, ".months button", "April")
    page.wait_for("#results h2", "April 2025")
    page.wait_for(".hits .title", "Soup")
    click(page, ".hits .title", "Soup")
    page.wait_for("#reader .doc-body h1", "Soup")


def test_new_files_are_read_from_the_page(visit, site):
    (site.notes / "quince.md").write_text("# Quince\n\nQuinces are cooked for long.\n")
    page = visit("/?view=status")
    page.wait_for(".checks li", "database")
    click(page, "button", "Read new and changed files")
    page.wait_for("[role=status]", "1 new")
    visit("/?q=quinces").wait_for(".hits .title", "Quince")


def test_more_hits_follow_and_weak_ones_wait(visit):
    page = visit("/?q=zebra")
    page.wait_for(".hits .title")
    count = "return document.querySelectorAll('.hits > li').length"
    before = page.run(count)
    click(page, "button.more")
    page.wait(lambda: page.run(count) > before, "more hits")


def test_the_status_shows_why_doctor_stopped_early(visit, site):
    page = visit("/?view=status")
    page.wait_for(".checks li")
    page.run(
        "const keep = fetch; window.fetch = (path, options) => String(path) === '/v1/doctor'"
        " ? Promise.resolve(Response.json({ok: false, coverage: null, checks: [{name: 'database',"
        " status: 'fail', summary: 'malformed', fix: null}]})) : keep(path, options);"
        "history.pushState(null, '', '/?view=search'); dispatchEvent(new Event('popstate'));"
    )
    page.run("history.pushState(null, '', '/?view=status'); dispatchEvent(new Event('popstate'));")

    page.wait_for("#results h1", "Not healthy")
    page.wait_for(".checks li", "malformed")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_in_any_view(visit, site, scheme):
    page = visit()
    document = page.run(LIST, "bread.md")[0]["doc_id"]
    page.prefer(scheme)
    found = {}
    try:
        for view in VIEWS:
            visit(f"{view}&doc={document}")
            page.wait_for("#results", "")
            page.wait_for(".checks li" if "status" in view else "#reader .margin a")
            found[view] = page.find_violations()
    finally:
        page.prefer("light")
    assert not any(found.values()), json.dumps(found, indent=1)


def test_a_server_that_is_away_is_said_and_its_return_noticed(window, site):
    window.driver.get(f"{site.url}/?q=leeks")
    window.wait_for(".hits .title", "Soup")
    port = int(site.url.rpartition(":")[2])
    site.stop()
    window.driver.find_element(By.ID, "q").send_keys(" boil")
    window.wait_for(".failure", "the server does not answer")
    site.start(port)
    window.wait_for(".failure", "not signed in")
    window.driver.get(site.build_login())
    window.wait_for("#bar nav a", "Status")
    window.drain_logs()
    window.errors.clear()


def test_a_browser_that_signs_out_is_out(window, site):
    window.driver.get(f"{site.url}/?view=status")
    click(window, "button", "Sign this browser out")
    window.wait_for("main", "signed out")
    window.driver.get(site.url)
    window.wait_for("main", "not signed in")
    window.driver.get(site.build_login())
    window.wait_for("#bar nav a", "Status")
    window.drain_logs()
    window.errors.clear()
