import pytest

from kebab.app import fetch as operation
from kebab.app.grep import grep
from kebab.app.outline import outline
from kebab.errors.catalog import IoError
from kebab.wire.fetch import FetchRequest, GrepRequest, Outline, OutlineRequest
from kebab.wire.library import FetchResult
from kebab.wire.record import NotFound
from tests.fakes.placed import register_formats

LINES = [f"line {number} of the garden" for number in range(1, 41)]
TEXT = "\n".join(LINES) + "\n"


@pytest.fixture
def garden(desk):
    desk.write("garden.txt", TEXT)
    desk.ingest(context=desk.context(index__chunk_tokens=64))
    return desk


def _made(reply):
    assert isinstance(reply, FetchResult)
    return reply


def _chunk(desk, **options):
    """Return the second passage and what fetching it gives."""
    found = sorted(desk.search("garden", limit=50).hits, key=lambda hit: hit.citation.line.start)
    hit = found[1]
    return hit, _made(fetch(desk, hit.chunk_id, **options))


def test_a_passage_is_fetched_from_its_file(garden):
    hit, found = _chunk(garden)
    start, end = hit.citation.line.start, hit.citation.line.end

    assert start > 1
    assert found.text == "\n".join(LINES[start - 1 : end])
    assert (found.kind, found.chunk_id, found.doc_path) == ("chunk", hit.chunk_id, "garden.txt")
    assert (found.start_line, found.end_line, found.line_count) == (start, end, 40)
    assert (found.freshness, found.truncated) == ("fresh", False)


@pytest.mark.parametrize("spoil", ["change", "delete"])
def test_a_passage_of_a_file_that_changed_is_the_text_that_was_indexed(garden, spoil):
    file = garden.notes / "garden.txt"
    if spoil == "change":
        file.write_text("all new\n")
    else:
        file.unlink()
    hit, found = _chunk(garden)

    assert found.freshness == {"change": "changed", "delete": "gone"}[spoil]
    assert found.text == "\n".join(LINES[hit.citation.line.start - 1 : hit.citation.line.end])
    assert (found.start_line, found.end_line) == (hit.citation.line.start, hit.citation.line.end)


def test_lines_of_a_text_file_that_is_damaged_cannot_be_read(garden):
    (garden.notes / "garden.txt").unlink()
    (garden.notes / "garden.txt").mkdir()

    with pytest.raises(IoError) as caught:
        fetch(garden, "garden.txt:1")

    assert caught.value.path == str(garden.notes / "garden.txt")


def test_a_passage_that_an_edit_moved_is_fetched_where_it_is_now(garden):
    garden.write("garden.txt", "new\n" * 7 + TEXT)
    hit, found = _chunk(garden, context=1)
    start, end = hit.citation.line.start + 7, hit.citation.line.end + 7

    assert (found.freshness, found.is_indexed_text, found.line_count) == ("changed", False, 47)
    assert found.citation.uri == f"garden.txt#L{start}-L{end}"
    assert (found.start_line, found.end_line) == (start - 1, end + 1)
    assert found.text == "\n".join(LINES[start - 9 : end - 6])


def test_of_two_places_with_the_passage_the_nearer_is_fetched(garden):
    garden.write("garden.txt", "new\n" + TEXT + TEXT)
    hit, found = _chunk(garden)

    assert found.start_line == hit.citation.line.start + 1


def test_a_changed_file_that_is_no_longer_text_gives_the_indexed_text(garden):
    (garden.notes / "garden.txt").write_bytes(b"\0\1\2\3" * 100)
    found = _chunk(garden)[1]

    assert (found.freshness, found.is_indexed_text, found.line_count) == ("changed", True, 40)


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
    (result,) = operation.fetch(desk.context(), FetchRequest(refs=[ref], **options)).results
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


FORMS = (
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
)  # fmt: skip
"""A reference, the kind of its place, and the text there."""


@pytest.mark.parametrize("state", ["fresh", "changed", "gone"])
def test_each_form_of_a_place_is_fetched(shelf, state):
    for path in shelf.notes.iterdir():
        if state == "gone":
            path.unlink()
        elif state == "changed":
            path.write_text(path.read_text() + "\n")
    for ref, kind, text in FORMS:
        found = fetch(shelf, ref)

        assert isinstance(found, FetchResult), (ref, found)
        assert (found.kind, found.text) == (kind, text), ref
        assert (found.freshness, found.is_indexed_text) == (state, state == "gone"), ref


@pytest.mark.parametrize(
    ("ref", "message", "candidates"),
    [
        ("paper.pages#page=40", "the last page is 4", ["paper.pages#page=4", "paper.pages#page=2"]),
        ("paper.pages#page=3", "page 3 has no text", ["paper.pages#page=2", "paper.pages#page=4"]),
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


def test_a_moved_passage_is_cited_at_its_new_page(shelf):
    hit = shelf.search("tulips spring").hits[0]
    shelf.write("paper.pages", f"A new first page.\f{PAPER}")
    found = fetch(shelf, hit.chunk_id)

    assert (found.text, found.citation.uri) == ("Tulips bloom in spring.", "paper.pages#page=3")


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


@pytest.mark.parametrize(("text", "reason"), [("damaged", "unreadable"), (None, "gone")])
def test_a_file_whose_text_cannot_be_searched_is_reported(shelf, text, reason):
    if text is None:
        (shelf.notes / "paper.pages").unlink()
    else:
        shelf.write("paper.pages", text)
    found = grep(shelf.context(), GrepRequest(pattern="water"))

    assert [(one.doc_path, one.reason) for one in found.skipped] == [("paper.pages", reason)]
