"""What output shows, `fetch` takes: each form finds the document that it was printed for."""

import os
import shutil
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kebab.app.references import (
    DocumentNames,
    Lines,
    Reading,
    ReferenceFinder,
    Target,
    add_place,
    read_reference,
)
from kebab.cli.render.canvas import clean
from kebab.core.chunks import DocId
from kebab.core.documents import DocumentName
from kebab.search.citations import cite_lines, format_reference
from kebab.wire.record import NotFound

KOREAN = unicodedata.normalize("NFD", "한글/메모.md")
NAMES = [
    "runbooks/backup.md",
    "docs/backup.md",
    "docs/restore.md",
    "my note.md",
    "a:12.md",
    "notes#L5.md",
    "100%.md",
    "100%41.md",
    "x[1](2).md",
    "emoji 🎉.md",
    "line\nbreak.md",
    "chunk.md",
    "C#.md",
    "q?&=.md",
    '"quoted" `tick`.md',
    KOREAN,
]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory, make_desk):
    """A document of each name; not to be changed."""
    desk = make_desk(tmp_path_factory.mktemp("desk"))
    for name in NAMES:
        desk.write(name, f"# {name.strip()}\n\nabout it\n\nand more\n")
    desk.ingest()
    yield desk
    desk.close()


def find(desk, reference, **options):
    with desk.context().open_catalogue() as catalogue:
        return ReferenceFinder(catalogue, **options).find(reference)


def get_place(found):
    """Return the document and the first line of a target, None when nothing was found."""
    return (found.doc_id, found.lines.first) if isinstance(found, Target) and found.lines else None


def list_printed_forms(path, file, first, last):
    """Return what search, grep, list, compact and outline print for lines of a file."""
    shown = clean(path)
    return [
        cite_lines(path, first, last).uri,
        format_reference(path, first, last),
        format_reference(file, first, last),
        f"{shown}:{first}",
        f"{shown}:{first}-{last}",
        f"{shown}:{first}:7:about it: 3",
        f"{clean(file)}:{first}:7:about it",
        f"{path}:{first}",
        f"{Path(file).as_uri()}#L{first}",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_printed_form_finds_its_document_and_line(shelf, name):
    documents = shelf.documents()
    for form in list_printed_forms(name, f"{shelf.notes}/{name}", 3, 5):
        found = find(shelf, form)

        assert get_place(found) == (documents[name].doc_id, 3), form
    for form in (name, clean(name), unicodedata.normalize("NFC", name), f"{shelf.notes}/{name}"):
        assert find(shelf, form) == Target(doc_id=documents[name].doc_id)


PIECES = st.sampled_from([*"ab 1:#%-L[](){}?&'\"`~$*;한🎉é\n\t.", "%20", ":7", "#L3"])
PARTS = (
    st.lists(PIECES, min_size=1, max_size=8)
    .map("".join)
    .filter(lambda text: text.strip(". \n\t") == text)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(PARTS, min_size=1, max_size=3))
def test_a_document_of_any_name_is_found_by_what_is_printed_for_it(desk, parts):
    root = Path(tempfile.mkdtemp(dir=desk.folder))
    name = "/".join(parts) + ".md"
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# Title\n\nabout it\n\nand more\n")
    shutil.rmtree(desk.data, ignore_errors=True)
    context = desk.context()
    desk.ingest(root, context=context)
    (document,) = desk.documents().values()

    for form in list_printed_forms(document.doc_path, f"{root}/{document.doc_path}", 3, 5):
        found = find(desk, form)

        assert get_place(found) == (document.doc_id, 3), form


def test_a_name_that_looks_like_a_reference_wins_when_it_exists(desk):
    for name in ("a.md", "a.md:12.md", "a.md#L5.md"):
        desk.write(name, "text\n" * 20)
    desk.ingest()
    documents = desk.documents()

    assert find(desk, "a.md:12.md") == Target(doc_id=documents["a.md:12.md"].doc_id)
    assert find(desk, "a.md#L5.md") == Target(doc_id=documents["a.md#L5.md"].doc_id)
    assert find(desk, "a.md:12") == Target(
        doc_id=documents["a.md"].doc_id, lines=Lines(12, 12), bare=True
    )


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("restore.md:3", "docs/restore.md"),
        ("notes/docs/restore.md", "docs/restore.md"),
        ("메모.md", KOREAN),
        ("./chunk.md", "chunk.md"),
        ("…/restore.md", "docs/restore.md"),
    ],
)
def test_the_end_of_a_path_is_enough(shelf, reference, name):
    found = find(shelf, reference)

    assert found.doc_id == shelf.documents()[name].doc_id


def test_ids_of_documents_and_passages_and_their_beginnings_are_references(shelf):
    hit = shelf.search("restore").hits[0]

    for reference in (hit.chunk_id, hit.chunk_id[:12], hit.chunk_id.upper()):
        assert find(shelf, reference) == Target(chunk_id=hit.chunk_id)
        assert isinstance(find(shelf, reference, chunks=False), NotFound)
    assert find(shelf, f"{hit.doc_id[:12]}:2") == Target(
        doc_id=hit.doc_id, lines=Lines(2, 2), bare=True
    )


@pytest.mark.parametrize(
    ("reference", "kind", "candidates"),
    [
        ("backup.md:3", "ambiguous", ["docs/backup.md#L3", "runbooks/backup.md#L3"]),
        ("bakup.md", "not_found", ["docs/backup.md", "runbooks/backup.md"]),
        ("docs/restoer.md:2-4", "not_found", ["docs/restore.md#L2-L4"]),
        ("DOCS/RESTORE.md", "not_found", ["docs/restore.md"]),
        ("elsewhere/restore.md", "not_found", ["docs/restore.md"]),
        ("my%20nope.md#L1", "not_found", ["my%20note.md#L1"]),
        ("docs", "not_found", ["docs/backup.md", "docs/restore.md"]),
        ("quantum.txt", "not_found", []),
        ("", "not_found", []),
        ("a\0b", "not_found", []),
    ],
)
def test_what_names_nothing_or_too_much_lists_what_may_be_meant(shelf, reference, kind, candidates):
    found = find(shelf, reference)

    assert isinstance(found, NotFound)
    assert (found.name, found.error.kind, found.error.candidates) == (reference, kind, candidates)
    for candidate in candidates:
        assert isinstance(find(shelf, candidate), Target)


def test_candidates_in_two_sources_are_told_apart(desk):
    for source in ("one", "two"):
        (desk.folder / source).mkdir()
        (desk.folder / source / "a.md").write_text(f"the {source}\n")
    desk.ingest(desk.folder / "one", desk.folder / "two")
    found = find(desk, "a.md")

    assert isinstance(found, NotFound)
    assert found.error.candidates == [str(desk.folder / one / "a.md") for one in ("one", "two")]


def test_a_place_follows_the_name_of_another_document():
    assert add_place("b c.md", Reading("a", Lines(1, 2))) == "b%20c.md#L1-L2"
    assert add_place("b c.md", Reading("a", place="intro")) == "b%20c.md#intro"
    assert add_place("b c.md", Reading("a")) == "b c.md"


def test_a_path_below_its_source_wins_over_one_in_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    near = DocumentName(DocId("a"), "s", os.path.realpath(tmp_path), "x.md")
    names = DocumentNames([near, DocumentName(DocId("b"), "t", "/t", "deep/x.md")])

    assert names.find_exact("x.md") == [near]
    assert names.find_exact("./x.md") == [near]


@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [
        ("a.md#L5", "a.md", (5, 5)),
        ("a.md#12", "a.md", (12, 12)),
        ("a.md:5", "a.md", (5, 5)),
        ("my%20note.md#L1-L3", "my note.md", (1, 3)),
        ("my%20note.md:3", "my note.md", (3, 3)),
        ("file:///home/ada/my%20note.md#L2", "/home/ada/my note.md", (2, 2)),
        ("a:12:5", "a:12", (5, 5)),
        ("C#.md:1", "C#.md", (1, 1)),
    ],
)
def test_lines_are_read_in_every_form(text, name, lines):
    assert (name, Lines(*lines)) in [(one.name, one.lines) for one in read_reference(text)]


@pytest.mark.parametrize(
    ("text", "bare"),
    [("a:5", True), ("a#2024", True), ("a#L5", False), ("a:L5", False)],
)
def test_numbers_without_a_letter_may_be_pages(text, bare):
    assert read_reference(text)[1].bare is bare


@pytest.mark.parametrize(
    "text", ["a.md", "a:12", "notes#L5.md", "a.md#L5", "", "#L5", ":5", "100%.md", "%zz", "%ff"]
)
def test_the_whole_text_is_a_name_first(text):
    assert read_reference(text)[0] == Reading(text)


def test_a_fragment_without_numbers_is_a_place():
    assert Reading("a.md", place="page=3") in read_reference("a.md#page=3")
    assert Reading("a.md", place="how to") in read_reference("a.md#how%20to")
