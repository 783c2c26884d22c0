"""What is published, and what its readers find: the same, from a folder, S3 or a web server."""

import json
import time

import pytest

from kebab.app.context import AppContext
from kebab.app.doctor import check_health
from kebab.app.fetch import fetch
from kebab.app.publish import publish
from kebab.app.search import search_all as search
from kebab.config.settings import find_copy_folder
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import InvalidInput, IoError, Locked, NotIndexed, StoreCorrupt
from kebab.store import objects, published, published_copy
from kebab.store.published_copy import PublishedCopy
from kebab.wire.fetch import FetchRequest
from kebab.wire.health import DoctorRequest
from kebab.wire.library import FetchResult
from kebab.wire.published import PublishRequest
from kebab.wire.search import SearchRequest
from tests.fakes.object_server import BUCKET, serve_folder, serve_s3, use_s3


@pytest.fixture
def base(desk):
    return desk.folder / "base"


def _publish(desk, dest, **fields):
    return publish(desk.context(), PublishRequest(dest=str(dest), **fields), ignore_progress)


def _open(desk, address, **flags) -> AppContext:
    context: AppContext = desk.context(data_dir=str(address), **flags)
    return context


def _search(context: AppContext, query: str):
    return search(context, SearchRequest(query=query, limit=50))


def _list_hits(response):
    return [(hit.doc_id, hit.chunk_id, round(hit.score, 3), hit.snippet) for hit in response.hits]


def _get_copy(context: AppContext) -> PublishedCopy:
    assert context.published is not None
    return context.published


def _follow(context: AppContext) -> None:
    """Look at the store as a minute later."""
    path = next(find_copy_folder(context.settings.data_dir).rglob("state.json"))
    state = json.loads(path.read_bytes())
    state["tried_at"] = 0
    path.write_text(json.dumps(state))
    context.follow_published()


def _write_notes(desk, count=20):
    for number in range(count):
        desk.write(
            f"n{number}.md", f"# Note {number}\n\nWord{number} about the snapshot of cats.\n"
        )
    desk.ingest()


@pytest.mark.parametrize("kind", ["folder", "s3", "http"])
def test_a_reader_finds_what_the_publisher_finds(lab, base, kind, monkeypatch):
    _write_notes(lab)
    with serve_s3() as s3, serve_folder(base) as web:
        use_s3(s3, monkeypatch)
        dest = f"s3://{BUCKET}/kb" if kind == "s3" else base
        report = _publish(lab, dest)
        address = {"folder": f"file://{base}", "s3": dest, "http": f"http://127.0.0.1:{web.port}"}
        copy = _open(lab, address[kind])
        for query in ("snapshot", "word7 cats", "about"):
            expected = _search(lab.context(), query)
            assert _list_hits(_search(copy, query)) == _list_hits(expected)
            assert expected.hits[0].retrieval.vector_score is not None
    assert report.vectors == report.chunks > 0
    assert report.documents == 20


def test_a_store_that_is_searched_gives_the_same_hits(lab, base):
    _write_notes(lab)
    _publish(lab, base)
    remote = _open(lab, f"file://{base}", published__mode="remote")

    for query in ("word7 cats", "word11"):
        found, expected = _search(remote, query), _search(lab.context(), query)
        assert found.hits[0].chunk_id == expected.hits[0].chunk_id
        assert any("remote" in one.reason for one in found.degraded)
    assert not list(base.rglob("*found-*"))


def test_properties_travel(desk, base):
    desk.write("a.md", "---\nstatus: open\n---\n\nThe cats.\n")
    desk.write("b.md", "---\nstatus: done\n---\n\nThe cats.\n")
    desk.ingest()
    _publish(desk, base)

    request = SearchRequest(query="cats", property=["status=open"])
    found = search(_open(desk, f"file://{base}"), request)

    assert [hit.doc_path for hit in found.hits] == ["a.md"]


def test_words_that_a_parser_left_out_travel(desk, base):
    desk.write("a.html", "<nav>zanzibar</nav><main><p>The cats sleep on the mat.</p></main>")
    desk.ingest()
    _publish(desk, base)
    found = _search(_open(desk, f"file://{base}"), "zanzibar")

    assert found.absent_terms == []
    assert {term for one in found.coverage.left_out for term in one.terms} == {"zanzibar"}


def test_nothing_private_is_published(desk, base):
    _write_notes(desk, 2)
    _publish(desk, base)

    content = b"".join(path.read_bytes() for path in base.rglob("*") if path.is_file())
    assert str(desk.folder).encode() not in content
    assert json.loads((base / "base.json").read_bytes())["sources"] == ["notes"]


def test_only_what_changed_is_sent_and_pulled(lab, base):
    _write_notes(lab, 60)
    first = _publish(lab, base)
    reader = _open(lab, f"file://{base}")
    assert len(_search(reader, "snapshot").hits) == 50
    lab.write("n3.md", "# Note 3\n\nAnother text on Saturn.\n")
    (lab.notes / "n4.md").unlink()
    lab.ingest()

    second = _publish(lab, base)

    assert (second.added, second.removed) == (1, 2)
    assert second.sent_bytes < first.sent_bytes / 2
    _follow(reader)
    for query in ("saturn", "word4", "word5"):
        assert _list_hits(_search(reader, query)) == _list_hits(_search(lab.context(), query))
    assert _publish(lab, base).added == 0


def test_vectors_of_another_dimension_are_a_new_table_and_readers_keep_theirs(desk, base):
    _write_notes(desk, 2)
    _publish(desk, base)
    versions = published.Dataset(str(base)).read_versions()

    wide = published.Dataset(str(base), dimension=8)
    wide.add(published.PASSAGES, [{"key": "new", "vector": [0.5] * 8}])

    assert [*wide.list_keys(published.PASSAGES)] == ["new"]
    assert published.Dataset(str(base), versions).list_keys(published.PASSAGES).total() == 2


def test_the_slower_of_two_publishers_is_refused(desk, base, monkeypatch):
    _write_notes(desk, 2)
    _publish(desk, base)
    real = published.Dataset.maintain

    def meet(self):
        real(self)
        data = json.loads((base / "base.json").read_bytes())
        (base / "base.json").write_text(json.dumps({**data, "created_at": "later"}))

    monkeypatch.setattr(published.Dataset, "maintain", meet)
    desk.write("new.md", "new")
    desk.ingest()

    with pytest.raises(Locked):
        _publish(desk, base)


def test_rows_of_a_publisher_that_was_killed_do_not_count_and_are_used(desk, base, monkeypatch):
    _write_notes(desk, 3)
    _publish(desk, base)
    reader = _open(desk, f"file://{base}")
    assert _search(reader, "saturn").hits == []
    desk.write("new.md", "a text on Saturn")
    desk.ingest()
    with monkeypatch.context() as patch:
        patch.setattr(objects.ObjectStore, "replace", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            _publish(desk, base)

    _follow(reader)
    assert _search(reader, "saturn").hits == []
    assert _publish(desk, base).added == 0
    _follow(reader)
    assert len(_search(reader, "saturn").hits) == 1


def test_a_pull_that_was_killed_leaves_the_old_state(desk, base, monkeypatch):
    _write_notes(desk, 3)
    _publish(desk, base)
    reader = _open(desk, f"file://{base}")
    _search(reader, "cats")
    desk.write("new.md", "a text on Saturn")
    (desk.notes / "n1.md").unlink()
    desk.ingest()
    _publish(desk, base)
    from kebab.store.sqlite.writer import SqliteWriter

    with monkeypatch.context() as patch:
        patch.setattr(SqliteWriter, "put_document", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            _follow(reader)
    reader = _open(desk, f"file://{base}")
    _get_copy(reader).state = published_copy.read_state(f"file://{base}", "pull")
    with monkeypatch.context() as patch:
        patch.setattr(published_copy, "CHECK_S", float("inf"))
        assert _search(reader, "saturn").hits == []
        assert len(_search(reader, "word1").hits) == 1

    _follow(reader)
    assert len(_search(reader, "saturn").hits) == 1
    assert "n1.md" not in {hit.doc_path for hit in _search(reader, "word1").hits}


@pytest.mark.parametrize("kind", ["inside", "web", "odd"])
def test_a_destination_that_cannot_be_used_is_refused(desk, kind):
    _write_notes(desk, 1)
    dest = {"inside": desk.data / "x", "web": "https://x.example/y", "odd": "ftp://x/y"}[kind]

    with pytest.raises(InvalidInput):
        _publish(desk, dest)


@pytest.mark.parametrize("damage", ["gone", "odd", "newer"])
def test_without_its_store_a_copy_stays_in_use_and_says_so(lab, base, damage):
    _write_notes(lab, 2)
    _publish(lab, base)
    reader = _open(lab, f"file://{base}")
    before = _search(reader, "unicorns").coverage
    assert before.complete
    if damage == "gone":
        (base / "base.json").unlink()
    else:
        newer = json.dumps({"format_version": 99})
        (base / "base.json").write_text("{" if damage == "odd" else newer)
    _follow(reader)

    found = _search(reader, "unicorns")

    assert not found.coverage.complete
    assert found.coverage.checked_at == before.checked_at
    assert any(one.channel == "published" for one in found.degraded)
    assert _search(reader, "cats").hits
    with pytest.raises((IoError, StoreCorrupt, NotIndexed)):
        lab.context(data_dir=f"file://{base}", published__mode="remote").paths  # noqa: B018


def test_a_base_with_unread_files_is_not_complete_for_its_readers(lab, base):
    _write_notes(lab, 2)
    lab.write("late.md", "nobody has read it yet")
    _publish(lab, base)

    found = _search(_open(lab, f"file://{base}"), "unicorns")

    assert (found.coverage.complete, found.coverage.new) == (False, 1)


def test_the_checks_say_nothing_of_files_that_never_travelled(desk, base):
    _write_notes(desk, 2)
    _publish(desk, base)

    health = check_health(_open(desk, f"file://{base}"), DoctorRequest())

    checks = {one.name: one.status for one in health.checks}
    assert (checks["sources"], checks["files"]) == ("skip", "skip")
    assert health.ok


def test_a_file_of_the_publisher_is_neither_fresh_nor_gone(desk, base):
    _write_notes(desk, 1)
    _publish(desk, base)
    reader = _open(desk, f"file://{base}")

    assert [hit.freshness for hit in _search(reader, "cats").hits] == ["published"]
    (found,) = fetch(reader, FetchRequest(refs=["n0.md"])).results
    assert isinstance(found, FetchResult)
    assert "cats" in found.text


def test_the_store_is_not_asked_within_a_minute(desk, base):
    _write_notes(desk, 1)
    _publish(desk, base)
    reader = _open(desk, f"file://{base}")
    _search(reader, "cats")
    (base / "base.json").unlink()

    reader.follow_published()

    state = _get_copy(reader).state
    assert state is not None
    assert state.problem is None
    assert time.time() - state.checked_at < published_copy.CHECK_S


def test_passages_that_the_model_gives_no_vector_are_not_pending_in_a_copy(lab, base):
    _write_notes(lab, 2)
    lab.write("ko.md", "# 고양이\n\n고양이는 매트 위에서 잔다.\n")
    lab.ingest()
    assert _publish(lab, base).vectors == 2

    found = _search(_open(lab, f"file://{base}"), "snapshot")

    assert (found.degraded, found.coverage.pending_vectors) == ([], 0)


def test_only_the_publisher_is_told_to_ingest(lab, base):
    _write_notes(lab, 2)
    lab.write("later.md", "# Later\n\nThe cats sleep.\n")
    lab.ingest(context=lab.context(models_dir=str(lab.folder)))
    _publish(lab, base)
    own, found = _search(lab.context(), "cats"), _search(_open(lab, f"file://{base}"), "cats")

    assert own.coverage.pending_vectors == found.coverage.pending_vectors == 1
    assert [one.hint for one in (*own.degraded, *found.degraded)] == ["kebab ingest", None]
