"""The flag `--in`: the index of a folder is brought up to date before a search."""

import pytest
from msgspec.structs import replace

from kebab.errors.catalog import Locked, NotIndexed
from kebab.wire.ingest import IngestRequest
from tests.fakes.console import run
from tests.fakes.facade import FakeKebab


def test_the_folder_is_indexed_first_and_only_it_is_searched(kebab, opened, tmp_path):
    ran = kebab("search", "restore", "--in", str(tmp_path), "--json")

    (first, ingest), (second, search) = opened[0].asked
    assert (first, second) == ("ingest", "search")
    assert ingest == IngestRequest(paths=[str(tmp_path)], vector_seconds=5.0)
    assert search.folder == str(tmp_path)
    assert ran.reply["degraded"] == []
    assert {event["schema_version"] for event in ran.asides} == {"ingest_progress.v1"}


class PendingKebab(FakeKebab):
    """An earlier call has left passages without a vector."""

    def schema(self, request):
        reply = super().schema(request)
        return replace(reply, stats=replace(reply.stats, pending_embeddings=7))


def test_only_the_first_call_waits_for_vectors(tmp_path):
    opened = []

    def open_kebab(*arguments, **options):
        opened.append(PendingKebab(*arguments, **options))
        return opened[-1]

    run("search", "restore", "--in", str(tmp_path), opener=open_kebab)

    (ingest,) = [request for name, request in opened[0].asked if name == "ingest"]
    assert ingest.vector_seconds == 0


def test_read_only_searches_the_index_as_it_is_and_says_so(kebab, opened, tmp_path):
    ran = kebab("search", "restore", "--in", str(tmp_path), "--read-only")

    assert [name for name, _ in opened[0].asked] == ["search"]
    assert "note: the index was not brought up to date: `--read-only`" in ran.out


@pytest.mark.parametrize("folder", ["nowhere", "~no-such-user"])
def test_read_only_refuses_a_folder_that_is_missing(kebab, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    ran = kebab("search", "x", "--in", folder, "--read-only", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "io_error")


@pytest.mark.parametrize("form", ["text", "compact"])
@pytest.mark.parametrize("attempts", [3, 50])
def test_beside_another_writer_the_index_is_searched_after_a_while(
    tmp_path, monkeypatch, form, attempts
):
    class LockedKebab(FakeKebab):
        def ingest(self, request, report, cancel):
            asked.append(request)
            if len(asked) <= attempts:
                raise Locked(path="/data/writer.lock", holder_pid=7)
            return super().ingest(request, report, cancel)

    asked: list[IngestRequest] = []
    monkeypatch.setattr("kebab.cli.progress.time.sleep", lambda _: None)
    ran = run("search", "restore", "--in", str(tmp_path), "--format", form, opener=LockedKebab)

    assert (ran.status, len(asked)) == (0, min(attempts + 1, 50))
    is_left = "note: the index was not brought up to date: " in ran.out
    assert is_left == (attempts == 50)


class NewKebab(FakeKebab):
    """Nothing is indexed before the ingest."""

    def source_list(self, _request):
        raise NotIndexed(data_dir="/data", expected="4", found=None)


def test_a_folder_that_was_never_read_is_searched(tmp_path):
    assert run("search", "restore", "--in", str(tmp_path), opener=NewKebab).status == 0
