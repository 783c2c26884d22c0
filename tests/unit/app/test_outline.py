from types import SimpleNamespace
from typing import Any

import pytest

from kebab.app.fetch import fetch
from kebab.app.outline import Tree, estimate_file_tokens, find_folders, outline
from kebab.core.chunks import DocId
from kebab.core.documents import DocumentName, StoredDocument
from kebab.wire.fetch import FetchRequest, Outline, OutlineRequest
from kebab.wire.library import FetchResult
from kebab.wire.record import NotFound

TEXT = "# Top\n\nintro\n\n## Below\n\nmore words here\n\n### Deep\n\nlast\n"


@pytest.fixture
def shelf(desk):
    desk.write("docs/my note.md", TEXT)
    desk.write("docs/plain.txt", "one\ntwo\n")
    desk.write("docs/deep/er/x#1.md", "# X\n")
    desk.write("other/deep/y.md", "# Y\n")
    desk.write("top.md", "# T\n")
    desk.write("other/100%.md", "# P\n")
    desk.write("other/100%25.md", "# Q\n")
    desk.ingest()
    return desk


def show(desk, name=None, **options):
    return outline(desk.context(), OutlineRequest(name=name, **options))


def test_the_sections_are_those_of_the_present_file(shelf):
    shelf.write("docs/my note.md", "# New\n")
    changed = show(shelf, "my note.md")
    (shelf.notes / "docs" / "my note.md").unlink()
    gone = show(shelf, "my note.md")

    assert ([one.title for one in changed.sections], changed.freshness) == (["New"], "changed")
    assert (gone.sections, gone.freshness, gone.line_count) == ([], "gone", 11)
    assert gone.tokens > 0


@pytest.mark.parametrize(
    ("name", "text", "declarations"),
    [
        (
            "A.java",
            "/** The A keeps\n * an A. */\n@Deprecated\npublic final class A {\n}\n",
            ["public final class A {"],
        ),
        (
            "a.go",
            "package a\n\n// Get gets.\nfunc (s *Server) Get() int {\n\treturn 1\n}\n",
            ["func (s *Server) Get() int {"],
        ),
        (
            "a.py",
            "@x.setter\ndef x(self, v):\n    self.v = v\n",
            ["def x(self, v):"],
        ),
    ],
)
def test_a_symbol_is_declared_below_its_comments(desk, name, text, declarations):
    desk.write(name, text)
    desk.ingest()

    assert [one.declaration for one in show(desk, name).sections] == declarations


@pytest.mark.parametrize("name", ["docs", "notes/docs"])
def test_a_folder_has_a_tree(shelf, name):
    reply = show(shelf, name)

    assert (reply.kind, reply.ref, reply.documents) == ("folder", str(shelf.notes / "docs"), 3)
    assert [(one.kind, one.path, one.depth, one.documents) for one in reply.entries] == [
        ("folder", "deep", 0, 1),
        ("folder", "deep/er", 1, 1),
        ("document", "my note.md", 0, 1),
        ("document", "plain.txt", 0, 1),
    ]


def test_a_limit_says_what_it_leaves_out_and_a_depth_leaves_out_what_is_below(shelf):
    reply = show(shelf, "docs", limit=1)

    assert (reply.hidden, [one.path for one in reply.entries][-1]) == (1, "my note.md")
    assert show(shelf, limit=0).entries[0].hidden == 1
    assert [one.level for one in show(shelf, "my note.md", depth=2).sections] == [1, 2]


def test_every_reference_is_one_that_fetch_or_outline_takes(shelf):
    entries = show(shelf, depth=9).entries
    sections = show(shelf, "my note.md").sections
    refs = [one.ref for one in entries if one.kind == "document"] + [one.ref for one in sections]
    found = fetch(shelf.context(), FetchRequest(refs=refs))

    assert all(isinstance(one, FetchResult) for one in found.results)
    paths = [one.doc_path for one in found.results if isinstance(one, FetchResult)]
    assert paths[: -len(sections)] == refs[: -len(sections)]
    for folder in (one.ref for one in entries if one.kind == "folder"):
        assert isinstance(show(shelf, folder), Outline)


def test_names_of_several_folders_or_of_nothing_are_explained(shelf):
    several = show(shelf, "deep")
    nothing = show(shelf, "nope.md")

    assert isinstance(several, NotFound)
    assert several.error.candidates == [
        str(shelf.notes / "docs" / "deep"),
        str(shelf.notes / "other" / "deep"),
    ]
    assert isinstance(nothing, NotFound)


def test_a_folder_below_a_source_wins_over_one_that_ends_so():
    names = [DocumentName(DocId(path), "/n", "/n", path) for path in ("a/x.md", "b/a/y.md")]

    assert find_folders(names, "a") == ["/n/a"]
    assert find_folders(names, "") == find_folders(names, "x.md") == []


PATHS = ["a.md", "deep/b.md", "deep/c.md", "deep/er/d.md", "other/e.md", "z.md"]


def make_document(path, *, lang="en", size=400):
    return StoredDocument(
        doc_id=DocId(path),
        source="/n",
        root="/n/",
        path=path,
        title=f"About {path}",
        media="text/markdown",
        lang=lang,
        tags=(),
        size=size,
        mtime_ns=0,
        indexed_at=0.0,
        chunks=3,
        warnings=(),
    )


def list_paths(*, depth=9, limit=None):
    names = [DocumentName(DocId(path), "/n", "/n/", path) for path in PATHS]
    catalogue: Any = SimpleNamespace(list_names=lambda: names)
    tree = Tree(catalogue, OutlineRequest(limit=limit))
    tree.add_contents("/n", "", [make_document(path) for path in PATHS], 0, depth)
    return [(one.depth, one.path, one.documents, one.hidden) for one in tree.entries]


def test_folders_come_before_documents_with_all_that_is_below_them():
    assert list_paths() == [
        (0, "deep", 3, 0),
        (1, "deep/er", 1, 0),
        (2, "deep/er/d.md", 1, 0),
        (1, "deep/b.md", 1, 0),
        (1, "deep/c.md", 1, 0),
        (0, "other", 1, 0),
        (1, "other/e.md", 1, 0),
        (0, "a.md", 1, 0),
        (0, "z.md", 1, 0),
    ]


def test_a_limit_counts_what_it_leaves_out_of_open_folders():
    assert list_paths(limit=1, depth=2)[:3] == [
        (0, "deep", 3, 1),
        (1, "deep/er", 1, 0),
        (1, "deep/b.md", 1, 0),
    ]


def test_wide_scripts_need_more_tokens_for_a_byte():
    assert estimate_file_tokens(make_document("a.md", lang="ko")) == 160
