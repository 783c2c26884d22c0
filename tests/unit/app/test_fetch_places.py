import pytest

from kebab.app.fetch_references import fetch_references
from kebab.app.grep import grep
from kebab.app.outline import outline
from kebab.wire.fetch import FetchRequest, GrepRequest, Outline, OutlineRequest
from kebab.wire.library import FetchResult
from kebab.wire.record import NotFound
from tests.fakes.placed import register_formats

PAPER = (
    "# Gardens\nRoses need sun.\nThey need water too.\fTulips bloom in spring.\f\f"
    "## Soil\nSand drains quickly.\nClay holds water."
)
DECK = "# Budget\nWe spend less.\f# Plan\nWe hire two gardeners."
BOOK = "Prices\nplant,price\nrose,3\ntulip,2\n\n\nlily,5\noak,40\fStaff list\nname\nAda"
NAMES = ("paper.pages", "my site.sections", "book.sheets")
NOTEBOOK = "import garden\f# Growth\nplot the growth of the oak"
SITE = (
    "A word before.\n# Guide\nStart here.\n## Overview\nRead on.\n# Tools\nRakes.\n"
    "## Overview\nSpades too.\n# 2024\nA dry year."
)


@pytest.fixture
def shelf(desk, monkeypatch):
    register_formats(monkeypatch)
    desk.write("paper.pages", PAPER)
    desk.write("deck.slides", DECK)
    desk.write("book.sheets", BOOK)
    desk.write("nb.cells", NOTEBOOK)
    desk.write("my site.sections", SITE)
    desk.ingest()
    return desk


def fetch(desk, ref, **options):
    (result,) = fetch_references(desk.context(), FetchRequest(refs=[ref], **options)).results
    return result


@pytest.mark.parametrize(
    ("query", "uri"),
    [
        ("tulips spring", "paper.pages#page=2"),
        ("clay water", "paper.pages#page=4"),
        ("hire gardeners", "deck.slides#slide=2"),
        ("growth oak", "nb.cells#cell=1"),
        ("ada", "book.sheets#Staff%20list!A1:A2"),
        ("rakes", "my%20site.sections#Tools"),
        ("spades", "my%20site.sections#Tools/Overview"),
        ("dry year", "my%20site.sections#2024"),
    ],
)
def test_the_citation_of_a_hit_can_be_fetched(shelf, query, uri):
    hit = shelf.search(query).hits[0]
    found = fetch(shelf, hit.citation.uri)

    assert hit.citation.uri == uri
    assert isinstance(found, FetchResult)
    assert (found.citation, found.is_indexed_text) == (hit.citation, False)
    assert shelf.search(query, detail="passages").hits[0].text in found.text


@pytest.mark.parametrize(
    ("ref", "kind", "text"),
    [
        ("paper.pages#page=2", "page", "Tulips bloom in spring."),
        ("paper.pages:2", "page", "Tulips bloom in spring."),
        ("paper.pages#2", "page", "Tulips bloom in spring."),
        ("paper.pages#PAGE=1-2", "page",
         "# Gardens\n\nRoses need sun.\n\nThey need water too.\n\nTulips bloom in spring."),
        ("paper.pages#soil", "section", "## Soil\n\nSand drains quickly.\n\nClay holds water."),
        ("paper.pages#L7", "span", "Tulips bloom in spring."),
        ("deck.slides#slide=1", "slide", "# Budget\n\nWe spend less."),
        ("nb.cells#cell=0", "cell", "import garden"),
        ("nb.cells:0", "cell", "import garden"),
        ("book.sheets#Prices!A2:B3", "cell", "rose | 3\ntulip | 2"),
        ("book.sheets#prices!B2", "cell", "rose | 3"),
        ("book.sheets#Prices!A7:B7", "cell", "oak | 40"),
        ("book.sheets#Staff%20list", "cell", "name\nAda"),
        ("book.sheets#Staff list", "cell", "name\nAda"),
        ("my site.sections#guide", "section",
         "# Guide\n\nStart here.\n\n## Overview\n\nRead on."),
        ("my site.sections#overview", "section", "## Overview\n\nRead on."),
        ("my site.sections#2024", "section", "# 2024\n\nA dry year."),
        ("my site.sections#L1", "span", "A word before."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("state", ["fresh", "changed", "gone"])
def test_each_form_of_a_place_is_fetched(shelf, ref, kind, text, state):
    for path in shelf.notes.iterdir():
        if state == "gone":
            path.unlink()
        elif state == "changed":
            path.write_text(path.read_text() + "\n")
    found = fetch(shelf, ref)

    assert isinstance(found, FetchResult), found
    assert (found.kind, found.text) == (kind, text)
    assert (found.freshness, found.is_indexed_text) == (state, state == "gone")


def test_text_before_the_first_heading_is_cited_by_lines_of_the_extracted_text(shelf):
    hit = shelf.search("word before").hits[0]

    assert hit.citation.uri == "my%20site.sections#L1"
    assert hit.citation.section.title == "Guide"
    assert fetch(shelf, hit.citation.uri).text == "A word before."


@pytest.mark.parametrize(
    ("ref", "message", "candidates"),
    [
        ("paper.pages#page=40", "the last page is 4", ["paper.pages#page=4", "paper.pages#page=2"]),
        ("paper.pages#page=3", "page 3 has no text", ["paper.pages#page=2", "paper.pages#page=4"]),
        ("paper.pages#slide=1", "this document has pages and no slides", ["paper.pages#page=1"]),
        ("my site.sections#page=1", "has sections and no pages", None),
        ("book.sheets#Prices!A30:B31", "no text in these cells",
         ["book.sheets#Prices!A1:B3", "book.sheets#Prices!A6:B7"]),
        ("book.sheets#Price!A1:B3", "no such sheet: Price", ["book.sheets#Prices"]),
        ("book.sheets#Nope!A1:B3", "no such sheet: Nope",
         ["book.sheets#Prices", "book.sheets#Staff%20list"]),
        ("paper.pages#soils", "no such heading: soils", ["paper.pages#soil"]),
    ],
)  # fmt: skip
def test_a_place_that_does_not_exist_is_named_with_the_nearest(shelf, ref, message, candidates):
    found = fetch(shelf, ref)

    assert isinstance(found, NotFound)
    assert message in found.error.message
    if candidates is not None:
        assert found.error.candidates == candidates


def test_context_adds_what_the_reference_counts(shelf):
    pages = fetch(shelf, "paper.pages#page=2", context=1)
    rows = fetch(shelf, "book.sheets#Prices!A2:B2", context=1)
    lines = fetch(shelf, "paper.pages#L7", context=2)

    assert [place.uri for place in pages.places] == [
        "paper.pages#page=1",
        "paper.pages#page=2",
        "paper.pages#page=4",
    ]
    assert pages.citation.uri == "paper.pages#page=2"
    assert rows.text == "plant | price\nrose | 3\ntulip | 2"
    assert lines.text == "They need water too.\n\nTulips bloom in spring.\n\n## Soil"


def test_a_place_can_be_widened_to_its_section(shelf):
    assert fetch(shelf, "paper.pages#page=4", section=True).text.startswith("## Soil")
    assert fetch(shelf, "nb.cells#cell=0", section=True).kind == "section"
    assert fetch(shelf, "book.sheets#Prices!A2", section=True).text == "rose | 3"


def test_a_whole_document_says_where_its_places_begin(shelf):
    found = fetch(shelf, "paper.pages")
    lines = found.text.split("\n")

    assert [(place.uri, lines[place.line - 1]) for place in found.places] == [
        ("paper.pages#page=1", "# Gardens"),
        ("paper.pages#page=2", "Tulips bloom in spring."),
        ("paper.pages#page=4", "## Soil"),
    ]
    assert found.citation.uri == "paper.pages#page=1"


def test_a_cut_page_names_the_rest(shelf):
    found = fetch(shelf, "paper.pages#page=1", max_tokens=5)

    assert found.rest == "paper.pages#L3-L5"
    assert fetch(shelf, found.rest).text == "Roses need sun.\n\nThey need water too."


def test_a_moved_passage_is_cited_at_its_new_page(shelf):
    hit = shelf.search("tulips spring").hits[0]
    shelf.write("paper.pages", f"A new first page.\f{PAPER}")
    found = fetch(shelf, hit.chunk_id)

    assert (found.text, found.citation.uri) == ("Tulips bloom in spring.", "paper.pages#page=3")


def test_a_passage_that_is_gone_is_cited_as_it_was(shelf):
    hit = shelf.search("tulips spring").hits[0]
    for text in ("Nothing of it.", "damaged"):
        shelf.write("paper.pages", text)
        found = fetch(shelf, hit.chunk_id)

        assert (found.text, found.citation.uri) == (hit.snippet, "paper.pages#page=2")
        assert (found.freshness, found.is_indexed_text) == ("changed", True)


def test_an_outline_names_places_that_can_be_fetched(shelf):
    replies = [outline(shelf.context(), OutlineRequest(name=name)) for name in NAMES]
    paper, site, book = (reply for reply in replies if isinstance(reply, Outline))

    assert [one.ref for one in paper.sections] == ["paper.pages#Gardens", "paper.pages#Soil"]
    assert (paper.pages, site.pages) == (4, None)
    assert [one.ref for one in site.sections][-2:] == [
        "my%20site.sections#Tools/Overview",
        "my%20site.sections#2024",
    ]
    assert [one.ref for one in book.sections] == [
        "book.sheets#Prices!A1:B3",
        "book.sheets#Prices!A6:B7",
        "book.sheets#Staff%20list!A1:A2",
    ]
    for reply in (paper, site, book):
        for section in reply.sections:
            assert isinstance(fetch(shelf, section.ref), FetchResult)


def test_lines_are_found_in_extracted_text(shelf):
    found = grep(shelf.context(), GrepRequest(pattern="water"))

    assert [(hit.text, hit.citation.uri) for hit in found.hits] == [
        ("They need water too.", "paper.pages#page=1"),
        ("Clay holds water.", "paper.pages#page=4"),
    ]
    assert found.skipped == []


@pytest.mark.parametrize(("text", "reason"), [("damaged", "unreadable"), (None, "gone")])
def test_a_file_whose_text_cannot_be_searched_is_reported(shelf, text, reason):
    if text is None:
        (shelf.notes / "paper.pages").unlink()
    else:
        shelf.write("paper.pages", text)
    found = grep(shelf.context(), GrepRequest(pattern="water"))

    assert [(one.doc_path, one.reason) for one in found.skipped] == [("paper.pages", reason)]
