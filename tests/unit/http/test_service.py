import asyncio
import json
from functools import partial

import pytest

from kebab.config.settings import Settings
from kebab.errors.catalog import ConfigInvalid, ServerBusy
from kebab.http.service import Service, ServiceOptions, is_long
from kebab.wire.ingest import IngestTextRequest
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import encode_json
from tests.examples import REQUESTS
from tests.fakes.waiting import wait_until

WRITING = [name for name, one in OPERATIONS.items() if one.effect != "reads"]


def answer(service, operation, body):
    async def main():
        return await service.submit(operation, body).future

    return asyncio.run(main())


@pytest.fixture
def real(tmp_path):
    """Return a function that makes a service over real knowledge bases in an empty folder."""
    made = []
    folder = tmp_path / "data"
    models = str(tmp_path / "models")
    load = partial(Settings, data_dir=str(folder), models_dir=models, offline=True)

    def make(**options):
        service = Service(
            ServiceOptions(config_path=tmp_path / "config.toml", load_settings=load, **options)
        )
        made.append(service)
        return service

    yield make
    for service in made:
        service.close()


@pytest.mark.parametrize("operation", WRITING)
def test_nothing_is_written_unless_the_server_allows_it(real, operation, tmp_path):
    outcome = answer(real(), operation, encode_json(REQUESTS[operation]))

    error = json.loads(outcome.body)
    assert (outcome.status, error["code"]) == (403, "read_only"), error
    assert error["details"]["needs"] == "--allow-write"
    assert "--read-only" not in error["message"]
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "config.toml").exists()


def test_a_server_that_may_write_writes(real):
    service = real(allow_write=True)
    text = b'{"text": "U291cmRvdWdoIHJpc2Vz", "title": "Bread"}'

    assert json.loads(answer(service, "ingest_text", text).body)["new"] == 1
    found = json.loads(answer(service, "search", b'{"query": "sourdough"}').body)
    assert len(found["hits"]) == 1


def test_workers_answer_reads_that_come_together_as_the_server_does(real):
    service = real(allow_write=True, workers=1)
    answer(service, "ingest_text", b'{"text": "U291cmRvdWdoIHJpc2Vz", "title": "Bread"}')
    requests = [("search", b'{"query": "rises"}'), ("search", b'{"limit": "many"}')]

    async def ask_together():
        jobs = [service.submit(*request) for request in requests * 4]
        return [await job.future for job in jobs]

    def ask_until_a_worker_answers():
        outcomes = asyncio.run(ask_together())
        return outcomes if any(one.reply is None for one in outcomes) else None

    outcomes = wait_until(ask_until_a_worker_answers)
    assert {len(json.loads(one.body)["hits"]) for one in outcomes[::2]} == {1}
    assert {(one.status, one.reply.code) for one in outcomes[1::2]} == {(422, "invalid_input")}


def test_a_pattern_that_never_ends_stops_only_its_own_request(real, monkeypatch):
    monkeypatch.setattr("kebab.app.grep.DEADLINE_S", 0.2)
    service = real(allow_write=True)
    answer(service, "ingest_text", encode_json(IngestTextRequest(text=b"a" * 60 + b"b", title="t")))

    async def main():
        endless = service.submit("grep", b'{"pattern": "^(a+)+$"}')
        quick = await service.submit("grep", b'{"pattern": "a+b"}').future
        return quick, await endless.future

    quick, endless = asyncio.run(main())
    assert json.loads(quick.body)["matched_lines"] == 1
    assert (endless.status, json.loads(endless.body)["code"]) == (504, "timeout")


def test_read_only_wins_over_the_flag(real):
    outcome = answer(real(allow_write=True, read_only=True), "ingest", b"")

    details = json.loads(outcome.body)["details"]
    assert details == {"operation": "ingest", "needs": None, "published": False}


def vanish(data):
    data.rename(data.with_name("away"))


def replace_by_garbage(data):
    (data / "kebab.sqlite").unlink()
    (data / "kebab.sqlite").write_bytes(b"this is no database " * 1000)


def overwrite(data):
    database = data / "kebab.sqlite"
    database.write_bytes(b"\0" * database.stat().st_size)


def truncate(data):
    database = data / "kebab.sqlite"
    content = database.read_bytes()
    database.unlink()
    database.write_bytes(content[: len(content) // 2])


def repair(data, saved):
    if data.with_name("away").exists():
        data.with_name("away").rename(data)
    for file in data.glob("kebab.sqlite*"):
        file.unlink()
    for name, content in saved.items():
        (data / name).write_bytes(content)


@pytest.mark.parametrize(
    ("harm", "codes"),
    [
        (vanish, {"not_indexed"}),
        (replace_by_garbage, {"store_corrupt"}),
        # An open database may still answer from what it holds in memory, and then rightly.
        (overwrite, {"store_corrupt", "not_indexed", None}),
        (truncate, {"store_corrupt"}),
    ],
)
def test_a_database_that_breaks_is_an_error_and_works_again_when_it_is_repaired(
    real, tmp_path, harm, codes
):
    service, data = real(allow_write=True), tmp_path / "data"
    answer(service, "ingest_text", b'{"text": "U291cmRvdWdoIHJpc2Vz", "title": "Bread"}')
    search = b'{"query": "sourdough", "mode": "lexical"}'
    before = json.loads(answer(service, "search", search).body)
    saved = {file.name: file.read_bytes() for file in data.glob("kebab.sqlite*")}
    harm(data)
    broken = [answer(service, "search", search) for _ in range(2)]
    repair(data, saved)
    after = json.loads(answer(service, "search", search).body)

    assert {json.loads(one.body).get("code") for one in broken} <= codes, broken
    assert len(before["hits"]) == len(after["hits"]) == 1


def test_a_dry_run_is_no_writing(real):
    assert answer(real(), "reset", b'{"dry_run": true}').status in (200, 409)


def test_settings_are_read_again_for_each_request(make_service, pool):
    limits = iter([Settings(), Settings(data_dir="/other")])
    service = make_service(load_settings=lambda: next(limits))
    for _ in range(2):
        answer(service, "list", b"")

    assert [kebab.settings.data_dir for kebab in pool.lent] == ["", "/other"]


def test_settings_that_break_are_an_error_until_they_are_mended(make_service):
    faults = [ConfigInvalid(path="/c.toml", cause="not TOML"), None]

    def load():
        if fault := faults.pop(0):
            raise fault
        return Settings()

    service = make_service(load_settings=load)

    assert answer(service, "list", b"").status == 400
    assert answer(service, "list", b"").status == 200


def test_a_search_never_waits_for_long_work(make_service):
    async def main():
        service = make_service(quick_threads=1, long_threads=1)
        stuck = [service.submit("ask", b'{"question": "stuck"}') for _ in range(3)]
        found = await asyncio.wait_for(service.submit("search", b'{"query": "cat"}').future, 10)
        for job in stuck:
            job.stop()
        return found.status, [(await job.future).status for job in stuck[:1]]

    assert asyncio.run(main()) == (200, [499])


def test_too_many_waiting_requests_are_refused(make_service, pool):
    async def main():
        service = make_service(quick_threads=1, most_waiting=2)
        jobs = [service.submit("search", b'{"query": "stuck"}') for _ in range(2)]
        await asyncio.to_thread(wait_until, lambda: pool.lent)
        jobs.append(service.submit("search", b'{"query": "stuck"}'))
        with pytest.raises(ServerBusy):
            service.submit("search", b'{"query": "cat"}')
        for job in jobs:
            job.stop()
        return len(jobs)

    assert asyncio.run(main()) == 3


def test_stopping_ends_running_and_waiting_work(make_service, pool):
    async def main():
        service = make_service(quick_threads=1)
        jobs = [service.submit("search", b'{"query": "stuck"}') for _ in range(3)]
        await asyncio.to_thread(wait_until, lambda: pool.lent)
        service.stop()
        outcomes = await asyncio.wait_for(asyncio.gather(*(job.future for job in jobs)), 10)
        return [(one.status, json.loads(one.body)["code"]) for one in outcomes]

    assert asyncio.run(main()) == [(499, "cancelled")] * 3


def test_operations_that_report_or_write_are_long_and_a_search_is_not():
    assert {"ask", "dupes", "doctor", *WRITING} <= {name for name in OPERATIONS if is_long(name)}
    assert not any(map(is_long, ("search", "grep", "fetch", "list", "outline", "related")))
