from kebab.app.outline import TreeOptions, count_hidden, estimate_file_tokens, list_tree
from kebab.core.documents import StoredDocument
from kebab.core.ids import DocId

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


def list_paths(root="/n", *, depth=9, limit=None, level=0):
    documents = [make_document(path) for path in PATHS if f"/n/{path}".startswith(f"{root}/")]
    options = TreeOptions(depth, limit, lambda document: f"ref:{document.path}")
    return [
        (entry.depth, entry.path, entry.documents, entry.hidden)
        for entry in list_tree(root, documents, options, level)
    ]


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


def test_a_depth_closes_folders():
    assert [path for _, path, _, _ in list_paths(depth=1)] == ["deep", "other", "a.md", "z.md"]


def test_a_limit_counts_what_it_leaves_out_of_open_folders():
    assert list_paths(limit=1, depth=2)[:3] == [
        (0, "deep", 3, 1),
        (1, "deep/er", 1, 0),
        (1, "deep/b.md", 1, 0),
    ]
    assert count_hidden([], 3) == 0


def test_paths_begin_below_the_folder():
    assert list_paths("/n/deep", level=1) == [
        (1, "er", 1, 0),
        (2, "er/d.md", 1, 0),
        (1, "b.md", 1, 0),
        (1, "c.md", 1, 0),
    ]


def test_entries_have_references_and_sizes():
    options = TreeOptions(1, None, lambda document: f"ref:{document.path}")
    folder, document = list_tree("/n", [make_document("deep/b.md"), make_document("a.md")], options)

    assert (folder.ref, folder.chunks, folder.tokens) == ("/n/deep", 3, 100)
    assert (document.ref, document.title, document.tokens) == ("ref:a.md", "About a.md", 100)


def test_wide_scripts_need_more_tokens_for_a_byte():
    assert estimate_file_tokens(make_document("a.md", lang="ko")) == 160
