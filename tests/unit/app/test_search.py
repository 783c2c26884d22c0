"""Searching over real stores: filters, pages, budgets, and channels that cannot answer."""

import os
from collections.abc import Callable
from fnmatch import fnmatch
from typing import Any

import pytest
from msgspec import UNSET

from kebab.app.search import build_query
from kebab.embed.registry import E5_SMALL
from kebab.errors.catalog import InvalidCursor, TooLarge
from kebab.wire.search import SearchRequest

DAY = 86_400
NOON = 1_700_000_000


def _files(desk):
    """Write documents that differ in everything that filters look at."""
    for number in range(12):
        tags = ["ops", "draft"][: number % 3]
        korean = number % 4 == 3
        body = (
            f"검색 노트 {number}번 문서는 백업을 설명한다." if korean else f"Backup note {number}."
        )
        sections = "\n".join(
            f"\n## part {part}\n\nnotes {number}-{part} {body}" for part in range(2)
        )
        lang = "ko" if korean else "en"
        head = f"---\ntags: [{', '.join(tags)}]\nlang: {lang}\n---\n"
        name = f"{'deep/er' if number % 2 else 'flat'}/n{number}.md"
        path = desk.write(name, f"{head}# Notes {number}\n{sections}\n")
        os.utime(path, (NOON, NOON - number * DAY))
    for number in range(3):
        path = desk.write(f"flat/t{number}.txt", f"plain notes {number} about a cat on a mat\n")
        os.utime(path, (NOON, NOON - number * 5 * DAY))


@pytest.fixture(scope="module")
def library(tmp_path_factory, tiny_models, make_desk):
    """A desk of two sources in which everything has a vector."""
    desk = make_desk(tmp_path_factory.mktemp("desk"))
    desk.flags["models_dir"] = str(tiny_models)
    _files(desk)
    other = desk.folder / "other"
    other.mkdir()
    (other / "n1.md").write_text("# Notes elsewhere\n\nnotes of the dog in the park\n")
    os.utime(other / "n1.md", (NOON, NOON - 40 * DAY))
    desk.ingest(desk.notes, other)
    yield desk
    desk.close()


def _walk(desk, query="notes", **fields):
    """Return the hits of all pages."""
    context, hits, cursor = desk.context(), [], None
    while True:
        page = desk.search(query, context=context, cursor=cursor, limit=4, **fields)
        hits += page.hits
        assert page.has_more == (page.next_cursor is not None)
        if not page.has_more:
            return hits
        cursor = page.next_cursor


def _mtime(hit, desk):
    (file,) = desk.folder.glob(f"*/{hit.doc_path}")
    return file.stat().st_mtime


FILTERS: dict[str, tuple[Callable[..., dict[str, Any]], Callable[..., object]]] = {
    "tag": (lambda _: {"tag": ["ops"]}, lambda hit, _: "ops" in hit.tags),
    "tags": (
        lambda _: {"tag": ["draft", "none"]},
        lambda hit, _: {"draft", "none"} & set(hit.tags),
    ),
    "lang": (lambda _: {"lang": ["ko"]}, lambda hit, _: hit.lang == "ko"),
    "media": (lambda _: {"media": ["text/plain"]}, lambda hit, _: hit.media == "text/plain"),
    "media, short": (
        lambda _: {"media": ["markdown"]},
        lambda hit, _: hit.media == "text/markdown",
    ),
    "path_glob": (
        lambda _: {"path_glob": "deep/**"},
        lambda hit, _: hit.doc_path.startswith("deep/"),
    ),
    "path_glob, one folder": (
        lambda _: {"path_glob": "*/n?.md"},
        lambda hit, _: hit.doc_path.count("/") == 1 and fnmatch(hit.doc_path, "*/n?.md"),
    ),
    "source": (
        lambda desk: {"source": [str(desk.folder / "other")]},
        lambda hit, desk: hit.source == str(desk.folder / "other"),
    ),
    "doc_id": (
        lambda desk: {"doc_id": desk.documents()["flat/n4.md"].doc_id},
        lambda hit, _: hit.doc_path == "flat/n4.md",
    ),
    "since": (
        lambda _: {"since": "2023-11-10T22:13:20Z"},
        lambda hit, desk: _mtime(hit, desk) >= NOON - 4 * DAY,
    ),
    "until": (
        lambda _: {"until": "2023-11-10T22:13:20Z"},
        lambda hit, desk: _mtime(hit, desk) < NOON - 4 * DAY,
    ),
    "all at once": (
        lambda _: {
            "tag": ["ops"],
            "lang": ["en", "de"],
            "media": ["markdown"],
            "path_glob": "**/n*",
            "since": "2023-11-06T22:13:20Z",
        },
        lambda hit, desk: (
            "ops" in hit.tags and hit.lang == "en" and _mtime(hit, desk) >= NOON - 8 * DAY
        ),
    ),
}


@pytest.mark.parametrize("mode", ["lexical", "vector"])
@pytest.mark.parametrize("name", FILTERS)
def test_a_filtered_search_finds_what_a_scan_of_everything_would(library, name, mode):
    build, holds = FILTERS[name]
    everything = _walk(library, mode=mode)
    expected = [hit.chunk_id for hit in everything if holds(hit, library)]

    found = [hit.chunk_id for hit in _walk(library, mode=mode, **build(library))]

    count = 40 if mode == "vector" else 28  # front matter is no hit for the words of a title
    assert len(everything) == len({hit.chunk_id for hit in everything}) == count
    assert 0 < len(expected) < len(everything)
    assert found == expected


@pytest.mark.parametrize("budget", [1, 100, 200, 450, 900, 1_300, 100_000])
def test_a_budget_of_tokens_is_never_exceeded(library, budget):
    page = library.search("notes", max_tokens=budget, limit=20, snippet_chars=2_000)
    texts = [(hit.citation.uri, *hit.heading_path, hit.snippet) for hit in page.hits]

    assert sum(len("".join(parts)) for parts in texts) / 4 <= max(budget, 40)
    assert page.truncated == (len(page.hits) < 20)
    assert len(page.hits) >= min(20, max(1, budget // 100))
    left_out = 0 if page.left_out is UNSET else page.left_out.hits
    assert len(page.hits) + left_out == 20


def test_a_cursor_of_several_queries_is_bound_to_all_of_them(library):
    both = {"queries": ["cat on a mat"], "limit": 3}
    context = library.context()
    first = library.search("backup", context=context, **both)
    cursor = {"cursor": first.next_cursor, "context": context}
    second = library.search("backup", **both, **cursor)
    whole = library.search("backup", queries=both["queries"], limit=6, context=context)

    assert [one.chunk_id for one in (*first.hits, *second.hits)] == [
        one.chunk_id for one in whole.hits
    ]
    with pytest.raises(InvalidCursor):
        library.search("backup", queries=["cat"], **cursor)
    with pytest.raises(InvalidCursor):
        library.search("backup", **cursor)


def test_passages_without_a_vector_are_reported(lab):
    lab.write("a.md", "the cat sleeps\n")
    lab.ingest()
    assert lab.search("cat").degraded == []
    lab.write("b.md", "the dog runs\n")
    lab.ingest(context=lab.context(models_dir=str(lab.folder / "empty")))

    (told,) = lab.search("dog").degraded

    assert (told.channel, told.hint) == ("vector", "kebab ingest")
    assert told.reason == "50 % embedded"
    assert "b.md" in {hit.doc_path for hit in lab.search("dog").hits}


def test_a_query_is_cached_unless_read_only(lab):
    lab.write("a.md", "the cat sleeps\n")
    lab.ingest()

    def note(*, read_only):
        context = lab.context(read_only=read_only)
        trace = lab.search("cat on mat", context=context, trace=True).trace
        context.close()
        return next(stage.note for stage in trace if stage.stage == "vector")

    assert note(read_only=True) == note(read_only=True) == E5_SMALL.version
    assert [note(read_only=False) for _ in range(2)] == [E5_SMALL.version, "remembered"]


def test_a_hit_carries_as_much_text_as_the_request_says(library):
    by_detail = {
        detail: library.search("backup", limit=1, detail=detail).hits[0]
        for detail in ("ids", "snippets", "passages")
    }
    ids, snippets, passages = by_detail.values()

    assert (ids.snippet, ids.highlights, ids.text, ids.text_highlights) == ("", [], UNSET, UNSET)
    assert "backup" in snippets.snippet.lower()
    assert (snippets.text, snippets.text_highlights) == (UNSET, UNSET)
    assert (passages.snippet, passages.highlights) == ("", [])
    lines = (library.notes / passages.doc_path).read_text().split("\n")
    cited = passages.citation.line
    assert passages.text == "\n".join(lines[cited.start - 1 : cited.end])
    assert {passages.text[start:end].lower() for start, end in passages.text_highlights} == {
        "backup"
    }


def test_a_query_of_more_than_a_megabyte_is_too_large():
    assert build_query(SearchRequest(query="가" * 333_333), 0.0).text

    with pytest.raises(TooLarge) as caught:
        build_query(SearchRequest(query="가" * 333_334), 0.0)

    assert (caught.value.size, caught.value.limit) == (1_000_002, 1_000_000)
