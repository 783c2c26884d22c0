import stat

import pytest

from kebab.app import object_sources
from kebab.app.object_sources import ObjectMirror, read_state
from kebab.core.files import SkipCounts
from kebab.errors.catalog import IoError
from kebab.store import objects
from kebab.store.objects import StoredObject
from tests.fakes.object_server import BUCKET, WritableStore, use_s3

NOW = 1_800_000_000.0


@pytest.fixture
def store(s3, monkeypatch, tmp_path):
    use_s3(s3, monkeypatch)
    return WritableStore(f"s3://{BUCKET}/{tmp_path.name}")


@pytest.fixture
def mirror(store, tmp_path):
    return ObjectMirror(tmp_path, store.address)


def synchronise(mirror, *, stops_after=None, refused=()):
    added: list[bool] = []
    plan = mirror.plan(lambda one: "unsupported" if one.name in refused else None)
    done, fault = mirror.apply(
        plan,
        NOW,
        beat=lambda: added.append(True),
        is_stopped=lambda: stops_after is not None and len(added) >= stops_after,
    )
    return plan, done, fault


def count_missing(mirror):
    state = read_state(mirror.root)
    assert state is not None
    return state.missing


def list_files(mirror):
    return {
        path.relative_to(mirror.root).as_posix(): path.read_bytes()
        for path in mirror.root.rglob("*")
        if path.is_file()
    }


def test_only_what_changed_is_downloaded_and_what_is_gone_is_deleted(store, mirror, s3):
    for name, data in (("a.md", b"one"), ("deep/er/b.md", b"two"), ("c.md", b"three")):
        store.write(name, data)
    synchronise(mirror)
    assert list_files(mirror) == {"a.md": b"one", "deep/er/b.md": b"two", "c.md": b"three"}

    store.write("a.md", b"newer")
    store.delete("deep/er/b.md")
    s3.seen.clear()
    plan, done, _ = synchronise(mirror)

    assert plan.gone == ["deep/er/b.md"]
    assert list_files(mirror) == {"a.md": b"newer", "c.md": b"three"}
    assert not (mirror.root / "deep").exists()
    assert len(done) == 1
    assert [path for _, path in s3.seen if path.endswith(".md")] == [
        f"/{BUCKET}/{store.address.rpartition('/')[2]}/a.md"
    ]
    assert synchronise(mirror)[1] == []


def test_a_file_has_the_time_of_its_object_and_is_private(store, mirror):
    store.write("sub/a.md", b"one")
    plan, *_ = synchronise(mirror)
    status = (mirror.root / "sub/a.md").stat()

    assert status.st_mtime == plan.changed[0].modified
    assert stat.S_IMODE(status.st_mode) & 0o077 == 0
    for folder in (mirror.root, mirror.root.parent):
        assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("name", ["../a", "a/../b", "/a", "a//b", "./a", "", "a\0b", "a/.."])
def test_names_that_lead_elsewhere_are_unsafe(name):
    skips = SkipCounts()
    found = object_sources._select([StoredObject(name, 1, NOW)], lambda _: None, skips)

    assert list(found) == []
    assert skips.by_reason == {"unsafe_name": 1}


def test_of_names_that_differ_in_case_a_system_without_case_takes_one(monkeypatch):
    monkeypatch.setattr(object_sources, "is_linux", lambda: False)
    skips = SkipCounts()
    listed = [StoredObject(name, 1, NOW) for name in ("a.md", "A.md")]

    assert len(list(object_sources._select(listed, lambda _: None, skips))) == 1
    assert skips.total == 1


@pytest.mark.parametrize("fault", ["403", "truncated"])
def test_after_a_failed_listing_nothing_is_deleted(store, mirror, s3, fault):
    store.write("a.md", b"one")
    synchronise(mirror)
    store.delete("a.md")
    store.write("b.md", b"two")
    s3.faults["list-type"] = fault

    with pytest.raises(IoError):
        synchronise(mirror)

    assert list_files(mirror) == {"a.md": b"one"}


@pytest.mark.parametrize("fault", ["403", "404", "truncated", "reset"])
def test_a_failed_object_costs_itself_and_keeps_its_old_file(store, mirror, s3, fault):
    store.write("a.md", b"one")
    synchronise(mirror)
    store.write("a.md", b"newer")
    store.write("b.md", b"three")
    s3.faults["a.md"] = fault
    _, done, fault = synchronise(mirror)

    assert len(done) == 1
    assert fault.path.endswith("a.md")
    assert list_files(mirror) == {"a.md": b"one", "b.md": b"three"}
    assert count_missing(mirror) == 1
    s3.faults.clear()
    synchronise(mirror)
    assert list_files(mirror)["a.md"] == b"newer"
    assert count_missing(mirror) == 0


def test_an_object_that_is_replaced_after_the_listing_is_read_by_the_next_run(store, mirror):
    store.write("a.md", b"one")
    plan = mirror.plan(lambda _: None)
    store.write("a.md", b"second")

    _, fault = mirror.apply(plan, NOW, beat=lambda: None, is_stopped=lambda: False)

    assert "bytes came instead" in fault.cause
    assert list_files(mirror) == {}
    synchronise(mirror)
    assert list_files(mirror) == {"a.md": b"second"}


def test_an_interrupted_download_keeps_what_is_done(store, mirror, monkeypatch):
    monkeypatch.setattr(objects, "_THREADS", 1)
    for number in range(20):
        store.write(f"{number:02}.md", b"x")
    _, done, _ = synchronise(mirror, stops_after=0)
    assert (done, count_missing(mirror)) == ([], 20)

    _, done, _ = synchronise(mirror, stops_after=3)
    assert 3 <= len(done) < 20
    assert len(list_files(mirror)) == len(done)
    assert len(synchronise(mirror)[1]) == 20 - len(done)


def test_a_store_that_stops_to_answer_ends_the_download(store, mirror, s3, monkeypatch):
    monkeypatch.setattr(objects, "_THREADS", 1)
    for number in range(30):
        store.write(f"{number:02}.md", b"x")
    plan = mirror.plan(lambda _: None)
    s3.faults[BUCKET] = "403"
    s3.seen.clear()

    done, _ = mirror.apply(plan, NOW, beat=lambda: None, is_stopped=lambda: False)

    assert done == []
    assert len(s3.seen) < 30
    assert count_missing(mirror) == 30


def test_a_link_in_the_mirror_is_deleted_and_not_followed(store, mirror, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    store.write("a.md", b"one")
    synchronise(mirror)
    (mirror.root / "sub").symlink_to(outside)
    store.write("sub/b.md", b"two")

    synchronise(mirror)

    assert list(outside.iterdir()) == []
    assert list_files(mirror) == {"a.md": b"one", "sub/b.md": b"two"}
