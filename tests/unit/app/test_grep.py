import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from kebab.app.grep import grep
from kebab.errors.catalog import InvalidInput, TimedOut
from kebab.wire.fetch import GrepRequest

KOREAN = unicodedata.normalize("NFD", "메모.md")


@pytest.fixture
def shelf(desk):
    desk.write("a.md", "# Top\n\nthe cat\n\n## Below\n\na cat and a cat\nlast\n")
    desk.write("deep/b.md", "a dog\nA CAT\n")
    desk.write("deep/x[1].md", "one cat\n")
    desk.write(KOREAN, "고양이 cat\n")
    desk.ingest()
    return desk


def search(desk, pattern="cat", **options):
    return grep(desk.context(), GrepRequest(pattern=pattern, **options))


def places(reply):
    return [(hit.doc_path, hit.line, hit.column) for hit in reply.hits]


def test_matching_lines_come_in_the_order_of_their_files(shelf):
    reply = search(shelf)

    assert places(reply) == [
        ("a.md", 3, 5),
        ("a.md", 7, 3),
        ("deep/x[1].md", 1, 5),
        (KOREAN, 1, 5),
    ]
    assert (reply.matched_lines, reply.searched_files, reply.has_more) == (4, 4, False)
    assert [(one.doc_path, one.lines) for one in reply.files[:1]] == [("a.md", 2)]


def test_a_hit_says_where_it_is(shelf):
    hit = search(shelf).hits[1]

    assert (hit.text, hit.highlights) == ("a cat and a cat", [(2, 5), (12, 15)])
    assert (hit.citation.uri, hit.freshness) == ("a.md#L7", "fresh")
    assert hit.heading_path == ["Top", "Below"]
    assert hit.file == str(shelf.notes / "a.md")


def test_files_that_cannot_be_searched_are_reported(shelf):
    (shelf.notes / "a.md").unlink()
    (shelf.notes / "deep" / "b.md").write_bytes(b"\0\1\2\3" * 100)
    (shelf.notes / "deep" / "x[1].md").unlink()
    (shelf.notes / "deep" / "x[1].md").mkdir()
    reply = search(shelf)

    assert {(one.doc_path, one.reason) for one in reply.skipped} == {
        ("a.md", "gone"),
        ("deep/b.md", "not_text"),
        ("deep/x[1].md", "unreadable"),
    }
    assert (reply.searched_files, len(reply.hits)) == (1, 1)


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["deep"], {"deep/x[1].md"}),
        (["deep/x[1].md"], {"deep/x[1].md"}),
        (["*.md"], {"a.md", "deep/x[1].md", KOREAN}),
        (["메모.md"], {KOREAN}),
        (["a.md", "deep"], {"a.md", "deep/x[1].md"}),
        (["nowhere"], set()),
    ],
)
def test_paths_limit_the_search(shelf, paths, found):
    assert {hit.doc_path for hit in search(shelf, paths=paths).hits} == found


@pytest.mark.parametrize(
    ("options", "hits", "files", "more"),
    [
        ({"limit": 1}, 1, 1, True),
        ({"limit": 2}, 2, 1, True),
        ({"limit": 4}, 4, 3, False),
        ({"limit": 2**64}, 4, 3, False),
        ({"max_count": 2**64}, 4, 3, False),
        ({"max_count": 2}, 4, 3, False),
        ({"files_only": True}, 0, 3, False),
        ({"files_only": True, "limit": 2}, 0, 2, True),
        ({"files_only": True, "limit": 3}, 0, 3, False),
        ({"count_only": True}, 0, 3, False),
        ({"count_only": True, "limit": 1}, 0, 1, True),
    ],
)
def test_limits_say_whether_they_left_something_out(shelf, options, hits, files, more):
    reply = search(shelf, **options)

    assert (len(reply.hits), len(reply.files), reply.has_more) == (hits, files, more)


def test_legacy_encodings_are_decoded_as_for_the_index(desk):
    (desk.notes / "a.txt").write_bytes("첫째 줄\r\n고양이 두 마리\r\n".encode("cp949"))
    (desk.notes / "b.txt").write_bytes("a cat\n".encode("utf-16"))
    desk.ingest()

    assert places(search(desk, "두 마리")) == [("a.txt", 2, 5)]
    assert places(search(desk, "cat")) == [("b.txt", 1, 3)]


@pytest.mark.parametrize("has_alarm", [True, False])
def test_a_pattern_that_never_ends_is_stopped(desk, monkeypatch, has_alarm):
    monkeypatch.setattr("kebab.limits.matching.DEADLINE_S", 0.5)
    monkeypatch.setattr("kebab.limits.worker.GRACE_S", 0.1)
    desk.write("a.md", "a" * 60 + "b\n")
    desk.ingest()
    find = partial(search, desk, "^(a+)+$")

    with pytest.raises(TimedOut) as caught:
        find() if has_alarm else run_in_thread(find)

    assert caught.value.operation == "grep"


@pytest.mark.parametrize("options", [{}, {"limit": 2}, {"files_only": True}, {"max_columns": 20}])
def test_a_thread_without_an_alarm_finds_the_same(shelf, options):
    find = partial(search, shelf, "c[a-z]+t*", **options)
    here, there = find(), run_in_thread(find)

    assert here.hits or here.files
    assert (there.hits, there.files, there.has_more) == (here.hits, here.files, here.has_more)


def run_in_thread(work):
    with ThreadPoolExecutor() as threads:
        return threads.submit(work).result()


def test_what_cannot_be_searched_for_is_refused(shelf):
    with pytest.raises(InvalidInput):
        search(shelf, "a(")
    with pytest.raises(InvalidInput):
        search(shelf, "caf\udce9")
