from kebab.cli.render.canvas import Canvas
from kebab.cli.render.hits import render_hits, render_unmatched_filters
from kebab.wire.search import UnmatchedFilter
from tests.fakes import replies


def entry(name, value, documents=0, nearest=()):
    return UnmatchedFilter(filter=name, value=value, documents=documents, nearest=list(nearest))


def test_a_filter_that_matches_nothing_is_named_with_the_nearest_value():
    found = [entry("path_glob", "dapr/**", nearest=["docs/dapr/**"])]

    assert list(render_unmatched_filters(found, "kebab list", Canvas())) == [
        "note: no document passes `--path 'dapr/**'`",
        "  nearest: docs/dapr/**",
        "hint: kebab list",
    ]


def test_a_combination_is_listed_with_the_documents_of_each_filter():
    found = [entry("tag", "ops", 1), entry("doc_id", "3f", 2)]

    assert list(render_unmatched_filters(found, None, Canvas())) == [
        "note: no document passes these filters together:",
        "  --tag ops  1 document",
        "  --doc-id 3f  2 documents",
    ]


def test_no_filter_is_no_line():
    assert list(render_unmatched_filters([], None, Canvas())) == []


def test_words_are_not_called_absent_where_no_document_was_searched():
    reply = replies.response(
        query="bread", absent_terms=["bread"], unmatched_filters=[entry("tag", "ops")]
    )

    assert not [line for line in render_hits(reply, Canvas(), None) if "not in" in line]


def test_filters_are_called_as_their_flags():
    names = ["path_glob", "media", "links_to", "author", "doc_id", "folder"]
    lines = render_unmatched_filters([entry(name, "x", 1) for name in names], None, Canvas())

    flags = ["--path", "--type", "--links-to", "--author", "--doc-id", "--in"]
    assert [line.split()[0] for line in list(lines)[1:]] == flags
