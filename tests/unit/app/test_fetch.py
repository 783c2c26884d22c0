import pytest
from msgspec.structs import astuple

from kebab.app import fetch as operation
from kebab.app.fetch import fit_budget
from kebab.chunk.sections import find_marked_block
from kebab.text.model_input import estimate_tokens
from kebab.wire.fetch import FetchRequest
from kebab.wire.library import FetchResult
from kebab.wire.record import NotFound
from tests.fakes import replies

TEXT = """intro line

# Backup

Run the backup every night.

## Details

More about it.

```sh
restic check
```

## Restore

Stop the writer.
"""


@pytest.fixture
def shelf(desk):
    desk.write("docs/backup.md", TEXT)
    desk.write("docs/plain.txt", "one\ntwo\nthree\n")
    desk.write("other/same.md", "# Other\n")
    desk.write("docs/same.md", "# Same\n")
    desk.ingest()
    return desk


def fetch_all(desk, *refs, **options):
    return operation.fetch(desk.context(), FetchRequest(refs=list(refs), **options))


def fetch(desk, ref, **options):
    (result,) = fetch_all(desk, ref, **options).results
    return result


def test_results_have_the_order_of_the_references(shelf):
    reply = fetch_all(shelf, "plain.txt:2", "nothing.md", "backup.md#L3-L5")

    assert (reply.missing, reply.truncated) == (1, False)
    assert [type(one) for one in reply.results] == [FetchResult, NotFound, FetchResult]
    assert [one.text for one in reply.results if isinstance(one, FetchResult)] == [
        "two",
        "# Backup\n\nRun the backup every night.",
    ]


def test_an_id_of_a_passage_is_a_passage_and_of_a_document_the_whole(shelf):
    hit = shelf.search("restic check").hits[0]
    found = fetch(shelf, hit.chunk_id[:12])
    whole = fetch(shelf, hit.doc_id)

    assert (found.kind, found.chunk_id) == ("chunk", hit.chunk_id)
    assert (found.citation.uri, found.heading_path) == (hit.citation.uri, hit.heading_path)
    assert (whole.kind, whole.text + "\n") == ("doc", TEXT)


@pytest.mark.parametrize(
    ("ref", "lines", "path"),
    [
        ("backup.md:12", (7, 13), ["Backup", "Details"]),
        ("backup.md:9-17", (3, 17), ["Backup"]),
        ("backup.md:1", (1, 2), []),
        ("backup.md:1-5", (1, 17), []),
        ("plain.txt:2", (1, 3), []),
        ("backup.md#restore", (15, 17), ["Backup", "Restore"]),
    ],
)
def test_a_section_reaches_from_its_heading_to_the_next(shelf, ref, lines, path):
    found = fetch(shelf, ref, section=True)

    assert found.kind == "section"
    assert (found.start_line, found.end_line) == lines
    assert found.heading_path == path


def test_the_section_of_a_passage_is_found_in_the_present_file(shelf):
    hit = shelf.search("restic check").hits[0]
    shelf.write("docs/backup.md", "new line\n\n" + TEXT)
    found = fetch(shelf, hit.chunk_id, section=True)

    assert (found.kind, found.freshness, found.chunk_id) == ("section", "changed", hit.chunk_id)
    assert "restic check" in found.text
    assert found.text.startswith("#")


def test_lines_of_a_lost_file_are_those_of_the_passages_around_them(shelf):
    hit = shelf.search("restic check").hits[0]
    (shelf.notes / "docs" / "backup.md").unlink()
    found = fetch(shelf, "backup.md:12", section=True)
    own = fetch(shelf, hit.chunk_id, section=True)

    assert (own.start_line, own.end_line) == astuple(hit.citation.line)
    assert (found.freshness, found.is_indexed_text) == ("gone", True)
    assert "restic check" in found.text
    assert isinstance(fetch(shelf, "backup.md:99"), NotFound)
    assert isinstance(fetch(shelf, "backup.md#restore"), NotFound)


@pytest.mark.parametrize(
    ("ref", "message", "candidates"),
    [
        ("plain.txt:4", "no line 4 in a file of 3: plain.txt:4", ["docs/plain.txt#L1-L3"]),
        ("plain.txt:0", "no line 0 in a file of 3: plain.txt:0", ["docs/plain.txt#L1-L3"]),
        ("backup.md#page=3", "no such heading: page=3", []),
        ("backup.md#restoer", "no such heading: restoer", ["docs/backup.md#restore"]),
    ],
)
def test_a_place_that_does_not_exist_is_explained(shelf, ref, message, candidates):
    found = fetch(shelf, ref)

    assert isinstance(found, NotFound)
    assert (found.error.kind, found.error.message) == ("not_found", message)
    assert found.error.candidates == candidates


def test_a_budget_covers_all_texts(shelf):
    reply = fetch_all(shelf, "backup.md", "plain.txt", "nothing.md", max_tokens=25)
    cut, whole, _ = reply.results

    assert reply.truncated
    assert (cut.truncated, whole.truncated) == (True, False)
    rest = fetch(shelf, cut.rest)
    assert f"{cut.text}\n{rest.text}\n" == TEXT


def test_the_reference_of_the_rest_is_unambiguous(desk):
    for source in ("one", "two"):
        (desk.folder / source).mkdir()
        (desk.folder / source / "a.md").write_text(f"the {source}\n" * 40)
    desk.ingest(desk.folder / "one", desk.folder / "two")
    found = fetch(desk, str(desk.folder / "two" / "a.md"), max_tokens=20)

    assert fetch(desk, found.rest).text.startswith("the two")


def test_a_section_that_is_longer_than_the_budget_begins_with_the_named_lines(desk):
    lines = "\n".join(f"line {number} of the pump" for number in range(3, 61))
    (desk.folder / "a.md").write_text(f"# Pump\n\n{lines}\n")
    desk.ingest(desk.folder)

    short = fetch(desk, "a.md#L50-L51", section=True, max_tokens=100)
    whole = fetch(desk, "a.md#L50-L51", section=True, max_tokens=2000)

    assert (short.start_line, short.text[:7], short.truncated) == (50, "line 50", True)
    assert (whole.start_line, whole.end_line, whole.truncated) == (1, 60, False)


LINES = "\n".join(f"line {number} of the garden" for number in range(1, 41))
LONG = replies.fetch_result(text=LINES, start_line=1, end_line=40)


def cut(result, tokens, name="a.md"):
    (found,) = fit_budget([result], [name], tokens)
    assert isinstance(found, FetchResult)
    return found


def test_text_is_cut_between_lines_and_the_rest_has_a_reference():
    found = cut(LONG, 60, "my note.md")

    assert LINES.startswith(found.text + "\n")
    assert found.text.count("\n") + 1 == found.end_line < 40
    assert estimate_tokens(found.text) <= 60
    assert (found.truncated, found.rest) == (True, f"my%20note.md#L{found.end_line + 1}-L40")


def test_a_first_line_over_the_budget_is_cut_inside():
    found = cut(replies.fetch_result(text="word " * 900, start_line=5), 20)

    assert 0 < len(found.text) < 200
    assert estimate_tokens(found.text) <= 20
    assert (found.truncated, found.end_line) == (True, 5)


@pytest.mark.parametrize(
    ("text", "mark", "lines"),
    [
        ("# A\n\none\ntwo ^b1\n\nthree", "^b1", (3, 4)),
        ("- x\n- y ^b2", "^b2", (1, 2)),
        ("| a |\n| - |\n\n^b3\n\nx", "^b3", (1, 4)),
        ("one ^b1", "^b", None),
    ],
)
def test_a_marked_block_is_the_paragraph_that_ends_with_its_mark(text, mark, lines):
    assert find_marked_block(text.split("\n"), mark) == lines
