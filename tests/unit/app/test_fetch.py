import os

import pytest

from kebab.app.fetch import fetch_chunk, fetch_doc, fetch_span
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed
from kebab.wire.library import FetchChunkRequest, FetchDocRequest, FetchResult, FetchSpanRequest
from kebab.wire.record import NotFound

LINES = [f"line {number} of the garden" for number in range(1, 41)]
TEXT = "\n".join(LINES) + "\n"
FETCHES = {
    "chunk": lambda context, name: fetch_chunk(context, FetchChunkRequest(name=name)),
    "doc": lambda context, name: fetch_doc(context, FetchDocRequest(name=name)),
    "span": lambda context, name: fetch_span(context, FetchSpanRequest(name=name, start=1)),
}


@pytest.fixture
def garden(desk):
    desk.write("garden.txt", TEXT)
    desk.ingest(context=desk.context(index__chunk_tokens=64))
    return desk


def _made(reply):
    assert isinstance(reply, FetchResult)
    return reply


def _doc(desk, name="garden.txt", **options):
    return _made(fetch_doc(desk.context(), FetchDocRequest(name=name, **options)))


def _span(desk, start, end=None, **options):
    asked = FetchSpanRequest(name="garden.txt", start=start, end=end, **options)
    return _made(fetch_span(desk.context(), asked))


def _chunk(desk, **options):
    """Return the second passage and what fetching it gives."""
    found = sorted(desk.search("garden", limit=50).hits, key=lambda hit: hit.citation.line.start)
    hit = found[1]
    asked = FetchChunkRequest(name=hit.chunk_id, **options)
    return hit, _made(fetch_chunk(desk.context(), asked))


def test_a_passage_is_fetched_from_its_file(garden):
    hit, found = _chunk(garden)
    start, end = hit.citation.line.start, hit.citation.line.end

    assert start > 1
    assert found.text == "\n".join(LINES[start - 1 : end])
    assert (found.kind, found.chunk_id, found.doc_path) == ("chunk", hit.chunk_id, "garden.txt")
    assert (found.start_line, found.end_line, found.line_count) == (start, end, 40)
    assert (found.freshness, found.truncated) == ("fresh", False)


def test_context_adds_lines_on_both_sides_without_changing_the_citation(garden):
    hit, found = _chunk(garden, context=2)
    start, end = hit.citation.line.start, hit.citation.line.end

    assert (found.start_line, found.end_line) == (start - 2, end + 2)
    assert found.text == "\n".join(LINES[start - 3 : end + 2])
    assert found.citation == hit.citation


def test_context_ends_at_the_ends_of_the_file(garden):
    found = _chunk(garden, context=1_000)[1]

    assert (found.start_line, found.end_line, found.text + "\n") == (1, 40, TEXT)


@pytest.mark.parametrize("spoil", ["change", "delete"])
def test_a_passage_of_a_file_that_changed_is_the_text_that_was_indexed(garden, spoil):
    file = garden.notes / "garden.txt"
    if spoil == "change":
        file.write_text("all new\n")
    else:
        file.unlink()
    hit, found = _chunk(garden, context=3)

    assert found.freshness == {"change": "changed", "delete": "gone"}[spoil]
    assert found.text == "\n".join(LINES[hit.citation.line.start - 1 : hit.citation.line.end])
    assert (found.start_line, found.end_line) == (hit.citation.line.start, hit.citation.line.end)


def test_a_document_is_fetched_whole(garden):
    found = _doc(garden)

    assert (found.kind, found.chunk_id, found.text + "\n") == ("doc", None, TEXT)
    assert (found.start_line, found.end_line, found.line_count) == (1, 40, 40)


def test_a_changed_document_is_fetched_as_it_is_now(garden):
    garden.write("garden.txt", "all new\n")
    found = _doc(garden)

    assert (found.text, found.freshness, found.line_count) == ("all new", "changed", 1)


def test_a_document_that_is_gone_is_fetched_as_it_was_indexed(garden):
    (garden.notes / "garden.txt").unlink()
    found = _doc(garden)

    assert found.freshness == "gone"
    assert [line for line in found.text.splitlines() if line] == LINES


@pytest.mark.parametrize("fetch", ["doc", "chunk"])
def test_the_reported_freshness_is_the_one_that_selected_the_text(garden, monkeypatch, fetch):
    states = iter(["gone", "fresh"])
    monkeypatch.setattr("kebab.app.fetch.check_freshness", lambda *_: next(states))
    found = _doc(garden) if fetch == "doc" else _chunk(garden)[1]

    assert found.freshness == "gone"


def test_an_empty_document_has_no_lines(garden):
    garden.write("garden.txt", "")
    found = _doc(garden)

    assert (found.text, found.line_count, found.start_line) == ("", 0, 1)


def test_line_numbers_do_not_depend_on_the_encoding(desk):
    text = "첫째 줄\r\n둘째 줄\r\n\r\n넷째 줄"
    for name, encoding in (("a.txt", "cp949"), ("b.txt", "utf-16"), ("c.txt", "utf-8-sig")):
        (desk.notes / name).write_bytes(text.encode(encoding))
    desk.ingest()

    for name in ("a.txt", "b.txt", "c.txt"):
        found = _made(fetch_span(desk.context(), FetchSpanRequest(name=name, start=2, end=4)))
        assert found.text == "둘째 줄\n\n넷째 줄"


def test_lines_are_fetched_by_number(garden):
    found = _span(garden, 3, 5)

    assert (found.kind, found.text) == ("span", "\n".join(LINES[2:5]))
    assert found.citation.uri == "garden.txt#L3-L5"


def test_without_an_end_it_is_one_line(garden):
    assert _span(garden, 7).text == LINES[6]


def test_a_span_that_reaches_beyond_the_end_stops_there(garden):
    found = _span(garden, 39, 99)

    assert (found.text, found.end_line) == ("\n".join(LINES[38:]), 40)


def test_a_span_is_read_from_the_current_file(garden):
    garden.write("garden.txt", "all new\n")

    assert (_span(garden, 1).text, _span(garden, 1).freshness) == ("all new", "changed")


@pytest.mark.parametrize(("start", "end"), [(41, 50), (41, None), (5, 3), (-1, 3)])
def test_lines_that_do_not_exist_are_refused(garden, start, end):
    with pytest.raises(InvalidInput, match="40") as caught:
        _span(garden, start, end)

    assert caught.value.field == "$.start"


def test_a_span_of_a_file_that_is_gone_cannot_be_read(garden):
    (garden.notes / "garden.txt").unlink()

    with pytest.raises(IoError) as caught:
        _span(garden, 1)

    assert caught.value.path == str(garden.notes / "garden.txt")


def test_a_file_that_became_a_folder_cannot_be_read(garden):
    (garden.notes / "garden.txt").unlink()
    (garden.notes / "garden.txt").mkdir()

    with pytest.raises(IoError, match="directory"):
        _doc(garden)


def test_max_chars_cuts_the_text_and_adjusts_the_last_line(garden):
    found = _doc(garden, max_chars=len(LINES[0]) + 1 + len(LINES[1]) + 5)

    assert found.text == f"{LINES[0]}\n{LINES[1]}\nline"
    assert (found.truncated, found.start_line, found.end_line) == (True, 1, 3)
    assert (found.line_count, found.citation.uri) == (40, "garden.txt#L1-L40")


def test_a_limit_that_is_not_reached_cuts_nothing(garden):
    found = _doc(garden, max_chars=len(TEXT))

    assert (found.truncated, found.end_line) == (False, 40)


def test_text_that_is_indexed_only_is_limited_too(garden):
    (garden.notes / "garden.txt").unlink()
    found = _doc(garden, max_chars=30)

    assert (found.truncated, len(found.text), found.end_line) == (True, 30, 2)


@pytest.mark.parametrize("fetch", FETCHES.values(), ids=FETCHES)
def test_not_found_is_a_reply(garden, fetch):
    found = fetch(garden.context(), "0" * 32)

    assert isinstance(found, NotFound)
    assert found.error.kind == "not_found"


@pytest.mark.parametrize("fetch", FETCHES.values(), ids=FETCHES)
def test_without_a_knowledge_base_there_is_nothing_to_fetch(desk, fetch):
    with pytest.raises(NotIndexed):
        fetch(desk.context(), "a.md")


def test_a_file_with_the_same_size_and_time_counts_as_fresh(garden):
    file = garden.notes / "garden.txt"
    seen = file.stat()
    file.write_text(TEXT.upper())
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))

    assert _doc(garden).freshness == "fresh"


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


@pytest.mark.parametrize(("text", "count"), [("all new\n", 1), ("a\nb\nc\n", 3), ("", 0)])
def test_the_line_count_of_a_changed_file_is_the_present_one(garden, text, count):
    garden.write("garden.txt", text)
    found = _chunk(garden)[1]

    assert (found.line_count, found.is_indexed_text) == (count, True)


def test_the_line_count_of_a_lost_file_is_that_of_the_whole_document(garden):
    (garden.notes / "garden.txt").unlink()
    found = _chunk(garden)[1]

    assert (found.line_count, found.is_indexed_text) == (40, True)


def test_a_changed_file_that_is_no_longer_text_gives_the_indexed_text(garden):
    (garden.notes / "garden.txt").write_bytes(b"\0\1\2\3" * 100)
    found = _chunk(garden)[1]

    assert (found.freshness, found.is_indexed_text, found.line_count) == ("changed", True, 0)
