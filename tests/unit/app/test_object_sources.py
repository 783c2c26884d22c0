import sys

import pytest

from kebab.app.ingest import ingest
from kebab.app.library import list_sources, remove_source
from kebab.app.search import search_all as search
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import DependencyMissing, InvalidInput, IoError
from kebab.wire.ingest import IngestRequest
from kebab.wire.library import SourceListRequest, SourceRmRequest
from kebab.wire.search import SearchRequest
from tests.fakes.object_server import BUCKET, WritableStore, use_s3

NOTE = b"# Keys\n\nThe lighthouse keys rotate weekly.\n"


@pytest.fixture
def store(s3, monkeypatch, desk):
    use_s3(s3, monkeypatch)
    found = WritableStore(f"s3://{BUCKET}/{desk.folder.name}")
    found.write("keys.md", NOTE)
    return found


def run(desk, *paths, cancel=None, read_only=False, flags=None, **fields):
    context = desk.context(read_only=read_only, **(flags or {}))
    request = IngestRequest(paths=list(paths), **fields)
    return ingest(context, request, ignore_progress, cancel or Cancel())


def find(desk, query="lighthouse", **fields):
    return search(desk.context(), SearchRequest(query=query, mode="lexical", **fields))


def list_addresses(desk):
    return [one.address for one in list_sources(desk.context(), SourceListRequest()).sources]


def test_objects_are_searched_like_files_and_their_source_has_the_address(desk, store):
    store.write("deep/b.md", b"# B\n\nAnother lighthouse.\n")
    report = run(desk, store.address)

    assert (report.new, report.objects[0].downloaded, report.objects[0].error) == (2, 2, None)
    hits = find(desk, source=[store.address]).hits
    assert {hit.doc_path for hit in hits} == {"keys.md", "deep/b.md"}
    assert {hit.freshness for hit in hits} == {"fresh"}
    assert list_addresses(desk) == [store.address]


def test_what_names_and_sizes_exclude_is_not_downloaded(desk, store, s3):
    store.write("tool.exe", b"MZ")
    store.write(".env", b"KEY=1")
    store.write(".hidden/a.md", b"x")
    store.write("node_modules/a.md", b"x")
    store.write("large.md", b"x" * 2000)
    store.write("large.pdf", b"x" * 200)
    store.write("secret/drafts/a.md", b"x")
    s3.seen.clear()
    flags = {"ingest__max_file_bytes": 100, "ingest__exclude": ["drafts/"]}
    report = run(desk, store.address, flags=flags)

    assert report.objects[0].skipped_by_reason == {
        "excluded": 2,
        "hidden": 1,
        "over_limit": 2,
        "secret": 1,
        "unsupported": 1,
    }
    assert sum("list-type" not in path for _, path in s3.seen) == 1


def test_a_store_that_is_denied_is_an_error_and_the_last_objects_are_searched(desk, store, s3):
    run(desk, store.address)
    before = find(desk).coverage.checked_at
    s3.faults["list-type"] = "403"
    with pytest.raises(IoError):
        run(desk, store.address)
    report = run(desk)

    assert (report.unchanged, report.removed) == (1, 0)
    assert report.objects[0].error.code == "io_error"
    assert find(desk).hits
    assert find(desk).coverage.checked_at == before


def test_an_object_that_is_missing_here_is_unread(desk, store, s3):
    store.write("other.md", b"x")
    s3.faults["other.md"] = "403"
    report = run(desk, store.address)

    assert (report.new, report.objects[0].missing) == (1, 1)
    assert report.objects[0].error.details["path"].endswith("other.md")
    coverage = find(desk).coverage
    assert (coverage.complete, coverage.unread, coverage.files) == (False, 1, 2)


def test_a_store_that_cannot_be_used_makes_no_knowledge_base(desk, store, s3):
    with pytest.raises(IoError, match="no objects"):
        run(desk, f"{store.address}/nothing")
    s3.faults["list-type"] = "403"
    with pytest.raises(IoError):
        run(desk, store.address)
    assert not desk.data.exists()


def test_objects_that_are_all_gone_are_kept_unless_forced(desk, store):
    run(desk, store.address)
    store.delete("keys.md")
    with pytest.raises(IoError, match="1 were there"):
        run(desk, store.address)
    assert find(desk).hits

    assert run(desk, store.address, force=True).removed == 1


def test_a_client_names_only_addresses_that_are_known(desk, store, s3):
    context = desk.context()
    context.is_owner = False
    request = IngestRequest(paths=[store.address])
    s3.seen.clear()
    with pytest.raises(InvalidInput):
        ingest(context, request, ignore_progress, Cancel())
    assert s3.seen == []

    run(desk, store.address)
    assert ingest(context, request, ignore_progress, Cancel()).unchanged == 1


def test_without_the_extra_it_is_named_and_a_run_over_all_goes_on(desk, store, monkeypatch):
    run(desk, store.address)
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(DependencyMissing) as caught:
        run(desk, store.address)
    assert "kebab[published]" in caught.value.install
    assert run(desk).objects[0].error.code == "dependency_missing"


def test_a_source_above_the_data_directory_leaves_the_objects_to_their_source(desk, store):
    run(desk, str(desk.folder))
    run(desk, store.address)
    run(desk)

    assert [hit.source for hit in find(desk).hits] == [
        one.name for one in list_sources(desk.context(), SourceListRequest()).sources if one.address
    ]


def test_a_removed_source_takes_its_copies_with_it(desk, store):
    run(desk, store.address)
    remove_source(desk.context(), SourceRmRequest(name=store.address))

    assert list_addresses(desk) == []
    assert list((desk.data / "objects").iterdir()) == []
