import json
import os
import time
from contextlib import closing, nullcontext

import apsw
import pytest
from tests.fakes.archives import fill

from kebab.app import publish as publishing
from kebab.app.context import AppContext
from kebab.app.fetch import fetch_doc
from kebab.app.publish import publish
from kebab.app.search import search
from kebab.config.settings import find_copy_folder
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import InvalidInput, IoError, Locked, ReadOnly, StaleCursor, StoreCorrupt
from kebab.store.published import mirror, objects
from kebab.store.published.packs import decode_pack
from kebab.wire.library import FetchDocRequest, FetchResult
from kebab.wire.published import PublishRequest
from kebab.wire.search import SearchRequest
from tests.fakes.object_server import BUCKET, serve_folder, serve_s3, use_s3

LATER = 1_000.0


@pytest.fixture(autouse=True)
def _few_retries(monkeypatch):
    monkeypatch.setattr(objects, "_RETRIES", 0)


@pytest.fixture
def base(desk):
    return desk.folder / "base"


def _publish(desk, dest, **fields):
    return publish(desk.context(), PublishRequest(dest=str(dest), **fields), ignore_progress)


def _open(desk, address) -> AppContext:
    context: AppContext = desk.context(data_dir=str(address))
    return context


def _fetch(context: AppContext, name: str) -> FetchResult:
    found = fetch_doc(context, FetchDocRequest(name=name))
    assert isinstance(found, FetchResult)
    return found


def _get_problem(context: AppContext) -> str:
    assert context.published is not None
    assert context.published.state is not None
    return context.published.state.problem or ""


def _search(context: AppContext, query: str):
    return search(context, SearchRequest(query=query, limit=50))


def _list_hits(response):
    return [(hit.doc_id, hit.chunk_id, round(hit.score, 5), hit.snippet) for hit in response.hits]


def _follow(context: AppContext) -> None:
    """Look at the store as a minute later."""
    folder = find_copy_folder(context.settings.data_dir)
    state = json.loads((folder / "state.json").read_bytes())
    state["checked_at"] -= LATER
    (folder / "state.json").write_text(json.dumps(state))
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
    assert report.manifest.vectors == report.manifest.chunks > 0
    assert report.manifest.documents == 20


def test_nothing_private_is_published(desk, base):
    fill(desk)
    desk.search("snapshot")
    (desk.notes / "a.md").write_text("# A\n\nanother text\n")
    desk.ingest()
    report = _publish(desk, base)
    packs = [base / "packs" / one.sha256 for one in report.manifest.packs]
    content = b"".join(item for path in packs for item in decode_pack(path.read_bytes(), "x"))
    with closing(apsw.Connection(str(desk.data / "kebab.sqlite"))) as database:
        salt = str(database.execute("SELECT value FROM kv WHERE name = 'cursor_salt'").get)

    for secret in (str(desk.folder), "cats?", salt):
        assert secret.encode() not in content
    assert str(desk.folder) not in report.manifest.sources[0].name
    key = (desk.folder / "home" / "config" / "kebab" / "publish.key").read_text().strip()
    assert all(key.encode() not in one.read_bytes() for one in base.rglob("*") if one.is_file())


def test_what_did_not_change_is_not_sent_again(lab, base):
    _write_notes(lab, 60)
    first = _publish(lab, base)
    again = _publish(lab, base)
    lab.write("n3.md", "# Note 3\n\nSomething else about dogs.\n")
    lab.ingest()
    dry = _publish(lab, base, dry_run=True)
    third = _publish(lab, base)

    assert again.sent_objects == 1  # the manifest
    assert again.manifest.packs == first.manifest.packs
    assert third.sent_bytes < first.sent_bytes / 2
    assert (dry.sent_objects, dry.dry_run) == (third.sent_objects, True)
    assert third.manifest.sequence == 3
    copy = _open(lab, f"file://{base}")
    assert _list_hits(_search(copy, "dogs")) == _list_hits(_search(lab.context(), "dogs"))


def test_a_reader_follows_within_a_minute_and_keeps_one_snapshot(desk, base):
    _write_notes(desk, 3)
    _publish(desk, base)
    copy = _open(desk, f"file://{base}")
    assert len(_search(copy, "cats").hits) == 3
    desk.write("n9.md", "# Nine\n\nnine cats\n")
    desk.ingest()
    _publish(desk, base)

    copy.follow_published()
    assert len(_search(copy, "cats").hits) == 3
    other = _open(desk, f"file://{base}")
    held = other.paths.data
    _follow(copy)
    assert len(_search(copy, "cats").hits) == 4
    assert held.is_dir()  # another reader uses it
    assert len(_search(other, "cats").hits) == 3


def test_the_copies_of_several_servers_take_the_cursors_of_each_other(desk, base, monkeypatch):
    _write_notes(desk, 3)
    _publish(desk, base)

    def page_on(server, cursor):
        monkeypatch.setenv("XDG_CACHE_HOME", str(desk.folder / server))
        copy = _open(desk, f"file://{base}")
        return copy, search(copy, SearchRequest(query="cats", limit=1, cursor=cursor))

    _, first = page_on("one", None)
    copy, second = page_on("two", first.next_cursor)
    assert second.hits[0].rank == 2
    desk.write("n9.md", "# Nine\n\nnine cats\n")
    desk.ingest()
    _publish(desk, base)
    _follow(copy)
    with pytest.raises(StaleCursor):
        search(copy, SearchRequest(query="cats", limit=1, cursor=first.next_cursor))


def test_originals_travel_only_if_asked(desk, base):
    note = desk.write("a.md", "# A\n\nfirst line\n\n\nlast line\n")
    desk.ingest()
    _publish(desk, base)
    copy = _open(desk, f"file://{base}")
    without = _fetch(copy, "a.md")
    assert (without.freshness, without.is_indexed_text) == ("published", True)
    hit = _search(copy, "line").hits[0]
    assert (hit.freshness, hit.file) == ("published", None)
    assert _search(copy, "line").coverage.gone == 0

    _publish(desk, base, with_texts=True)
    _follow(copy)
    whole = _fetch(copy, "a.md")
    assert whole.freshness == "fresh"
    assert whole.text == note.read_text().removesuffix("\n")


def test_a_file_that_is_not_as_indexed_stays(desk, base):
    note = desk.write("a.md", "# A\n\nfirst\n")
    desk.ingest()
    note.write_text("# A\n\nother\n")
    report = _publish(desk, base, with_texts=True)

    assert report.left_out_files == 1
    copy = _open(desk, f"file://{base}")
    assert _fetch(copy, "a.md").freshness == "gone"


def test_the_slower_of_two_publishers_is_refused(desk, base, monkeypatch):
    _write_notes(desk, 2)
    _publish(desk, base)
    build = publishing._Publication._build_manifest

    def build_late(self, *args):
        monkeypatch.setattr(publishing._Publication, "_build_manifest", build)
        _publish(desk, base)
        return build(self, *args)

    monkeypatch.setattr(publishing._Publication, "_build_manifest", build_late)
    with pytest.raises(Locked):
        _publish(desk, base)
    assert _open(desk, f"file://{base}").paths.data.is_dir()


@pytest.mark.parametrize("kind", ["inside", "web", "nul", "scheme", "key"])
def test_a_destination_that_cannot_be_used_is_refused(desk, base, kind):
    _write_notes(desk, 1)
    if kind == "key":
        _publish(desk, base)
        (desk.folder / "home" / "config" / "kebab" / "publish.key").unlink()
    dest = {
        "inside": desk.data / "x",
        "web": "https://example.org/kb",
        "nul": "a\0b",
        "scheme": "ftp://x/y",
    }.get(kind, base)
    with pytest.raises(InvalidInput):
        _publish(desk, dest)


def test_old_objects_go_and_those_of_the_last_snapshots_stay(desk, base):
    _write_notes(desk, 2)
    (base / "packs").mkdir(parents=True)
    leftover, young = base / "packs" / ("ab" * 32), base / "packs" / ("cd" * 32)
    for path in (leftover, young):
        path.write_bytes(b"left by a killed publisher")
    os.utime(leftover, (1, 1))
    removed = 0
    for number in range(6):
        desk.write("a.md", f"# A\n\ntext {number}\n")
        desk.ingest()
        report = _publish(desk, base)
        removed += report.removed_objects
        for path in [*(base / "packs").iterdir(), *(base / "manifests").iterdir()]:
            if path != young:
                os.utime(path, (1, 1))

    assert not leftover.exists()
    assert young.exists()
    assert removed > 1
    assert len([*(base / "manifests").iterdir()]) <= 4
    assert _open(desk, f"file://{base}").paths.data.is_dir()


def test_a_published_base_is_read_only(desk, base):
    _write_notes(desk, 1)
    _publish(desk, base)
    copy = _open(desk, f"file://{base}")
    with pytest.raises(ReadOnly) as caught:
        copy.open_writer("ingest")
    assert "published" in caught.value.format_message()


@pytest.mark.parametrize(
    ("what", "fault"),
    [
        *(
            ("current.json", one)
            for one in ("503", "403", "404", "expired", "skewed", "reset", "truncated", "changed")
        ),
        *(("manifests", one) for one in ("404", "truncated", "reset", "changed")),
        *(("contents", one) for one in ("503", "404", "truncated", "changed")),
        *(("packs", one) for one in ("403", "404", "truncated", "reset", "changed", "slow")),
    ],
)
def test_a_fault_keeps_the_last_snapshot_in_use(desk, base, what, fault):
    _write_notes(desk, 2)
    _publish(desk, base)
    with serve_folder(base) as web:
        copy = _open(desk, f"http://127.0.0.1:{web.port}")
        assert len(_search(copy, "cats").hits) == 2
        desk.write("n9.md", "# Nine\n\nnine cats\n")
        desk.ingest()
        report = _publish(desk, base)
        known = report.manifest
        names = {"contents": known.contents.sha256, "packs": known.packs[-1].sha256}
        web.faults[names.get(what, what)] = fault
        _follow(copy)
        response = _search(copy, "cats")
        problem = _get_problem(copy)
        if fault == "slow":
            assert (len(response.hits), problem) == (3, "")
            return
        assert len(response.hits) == 2
        assert [one.channel for one in response.degraded].count("published") == 1
        assert names.get(what, what) in problem
        if fault in ("404", "changed") and what != "current.json":
            with pytest.raises(StoreCorrupt):
                _open(desk, f"http://127.0.0.1:{web.port}/.").paths  # noqa: B018 - it pulls
        web.faults.clear()
        _follow(copy)
        assert len(_search(copy, "cats").hits) == 3
        assert _get_problem(copy) == ""


@pytest.mark.parametrize("what", ["manifests", "contents", "packs"])
@pytest.mark.parametrize("damage", ["missing", "short"])
def test_publishing_again_mends_what_is_missing(lab, base, what, damage):
    _write_notes(lab, 3)
    _publish(lab, base)
    known = _publish(lab, base).manifest
    name = {"contents": known.contents.sha256, "packs": known.packs[0].sha256}.get(what)
    damaged = (
        base / "packs" / name
        if name
        else max((base / "manifests").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    )
    if damage == "missing":
        damaged.unlink()
    else:
        damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.raises(StoreCorrupt) as caught:
        _open(lab, f"file://{base}").paths  # noqa: B018 - it pulls
    assert "publish again" in (caught.value.format_hint() or "")

    assert _publish(lab, base).manifest.sequence == 3
    assert len(_search(_open(lab, f"file://{base}"), "cats").hits) == 3


def test_a_damaged_pack_of_the_cache_is_read_again(desk, base):
    _write_notes(desk, 2)
    _publish(desk, base)
    copy = _open(desk, f"file://{base}")
    assert _search(copy, "cats").hits
    for path in (find_copy_folder(f"file://{base}") / "packs").iterdir():
        path.write_bytes(b"damaged")
    desk.write("n9.md", "# Nine\n\nnine cats\n")
    desk.ingest()
    _publish(desk, base)
    _follow(copy)

    assert len(_search(copy, "cats").hits) == 3


def test_the_first_pull_reads_the_pointer_once(desk, base):
    _write_notes(desk, 1)
    _publish(desk, base)
    desk.flags["published.mode"] = "pull"  # otherwise the size of the base is read before
    with serve_folder(base) as web:
        assert _search(_open(desk, f"http://127.0.0.1:{web.port}"), "cats").hits
        assert [path for _, path in web.seen].count("/current.json") == 1


@pytest.mark.parametrize(
    ("what", "fault"),
    [
        *(("packs", one) for one in ("503", "expired", "reset")),
        *(("manifests", one) for one in ("403", "reset", "slow")),
        *(("current.json", one) for one in ("503", "skewed", "reset", "slow")),
    ],
)
def test_a_fault_of_a_publication_leaves_one_whole_snapshot(desk, fault, what, monkeypatch):
    _write_notes(desk, 2)
    with serve_s3() as s3:
        use_s3(s3, monkeypatch)
        dest = f"s3://{BUCKET}/kb"
        _publish(desk, dest)
        desk.write("n9.md", "# Nine\n\nnine cats\n")
        desk.ingest()
        s3.faults[what], s3.methods = fault, {"PUT"}
        with nullcontext() if fault == "slow" else pytest.raises((IoError, Locked)):
            _publish(desk, dest)
        s3.faults.clear()
        # A request whose reply was lost has been done.
        done = fault == "slow" or (fault, what) == ("reset", "current.json")
        copy = _open(desk, dest)
        assert len(_search(copy, "cats").hits) == (3 if done else 2)
        assert _publish(desk, dest).manifest.sequence == (3 if done else 2)
        _follow(copy)
        assert len(_search(copy, "cats").hits) == 3


def test_a_wrong_clock_of_a_publisher_deletes_no_young_object(desk, base):
    _write_notes(desk, 1)
    _publish(desk, base)
    young = base / "packs" / ("cd" * 32)
    young.write_bytes(b"another publisher is about to use it")
    context = desk.context()
    context.clock.now = lambda: time.time() + 100 * 86_400
    report = publish(context, PublishRequest(dest=str(base)), ignore_progress)

    assert report.removed_objects == 0
    assert young.exists()


def test_a_reader_whose_clock_was_ahead_looks_again(desk, base):
    _write_notes(desk, 1)
    _publish(desk, base)
    assert _search(_open(desk, f"file://{base}"), "cats").hits
    state = find_copy_folder(f"file://{base}") / "state.json"
    ahead = json.loads(state.read_bytes()) | {"checked_at": time.time() + LATER}
    state.write_text(json.dumps(ahead))
    desk.write("n9.md", "# Nine\n\nnine cats\n")
    desk.ingest()
    _publish(desk, base)

    assert len(_search(_open(desk, f"file://{base}"), "cats").hits) == 2


def test_an_older_snapshot_and_another_key_are_refused(desk, base):
    _write_notes(desk, 2)
    _publish(desk, base)
    first = (base / "current.json").read_bytes()
    _publish(desk, base)
    copy = _open(desk, f"file://{base}")
    assert _search(copy, "cats").hits
    (base / "current.json").write_bytes(first)
    _follow(copy)
    assert "older" in _get_problem(copy)

    (desk.folder / "home" / "config" / "kebab" / "publish.key").unlink()
    (base / "current.json").unlink()
    _publish(desk, base)
    _follow(copy)
    assert "another key" in _get_problem(copy)
    with pytest.raises(StoreCorrupt) as caught:
        mirror.Mirror(base / "copy", f"file://{base}", "ab" * 32, 100).refresh(0.0)
    assert "another address" in (caught.value.format_hint() or "")
    assert _search(copy, "cats").hits


def test_without_a_copy_the_reason_is_an_error(desk, base):
    with pytest.raises(IoError, match="nothing is published"):
        _open(desk, f"file://{base}").paths  # noqa: B018 - it pulls


def test_the_cache_keeps_within_its_limit(desk, base):
    _write_notes(desk, 30)
    _publish(desk, base)
    copy = desk.context(data_dir=f"file://{base}", published__cache_mb=1)
    assert _search(copy, "cats").hits
    folder = find_copy_folder(f"file://{base}")
    limited = mirror.Mirror(folder, f"file://{base}", None, 100)
    limited.refresh(copy.clock.now(), at_once=True)
    assert sum(path.stat().st_size for path in (folder / "packs").iterdir()) <= 100
    assert _search(copy, "cats").hits
