import asyncio
import json
from functools import partial

import pytest
from msgspec.structs import fields

from kebab.config.settings import Settings
from kebab.errors.catalog import ConfigInvalid, ServerBusy
from kebab.wire.ingest import IngestTextRequest
from kebab.wire.operations import OPERATIONS, REMOTE_OPERATIONS
from kebab.wire.record import encode_json
from tests.examples import REQUESTS
from tests.fakes.waiting import PATIENCE_S, wait_until

WRITING = [name for name, one in OPERATIONS.items() if one.effect != "reads"]
VALUES: tuple[object, ...] = (True, -1.5, "", [None], {})


def answer(operations, operation, body):
    return asyncio.run(operations.answer(operation, body))


@pytest.mark.parametrize("operation", REMOTE_OPERATIONS)
def test_a_field_of_any_type_is_answered_or_refused(make_operations, pool, operation):
    names = [field.encode_name for field in fields(OPERATIONS[operation].request)]
    bodies = [{name: value} for name in [*names, "no_such_field"] for value in VALUES]

    async def main():
        service = make_operations()
        return [
            (body, await service.answer(operation, json.dumps(body).encode()))
            for body in [*bodies, *VALUES]
        ]

    for body, outcome in asyncio.run(main()):
        reply = json.loads(outcome.body)
        assert outcome.status < 500, (body, reply)
        assert reply["command"] == OPERATIONS[operation].command, body


@pytest.fixture
def real(make_operations, tmp_path):
    """Return a function that runs operations on real knowledge bases in an empty folder."""
    models = str(tmp_path / "models")
    load = partial(Settings, data_dir=str(tmp_path / "data"), models_dir=models, offline=True)

    def make(**options):
        return make_operations(**{"load_settings": load, "allow_write": False, **options})

    return make


@pytest.mark.parametrize("operation", WRITING)
def test_nothing_is_written_unless_the_server_allows_it(real, operation, tmp_path):
    outcome = answer(real(), operation, encode_json(REQUESTS[operation]))

    error = json.loads(outcome.body)
    assert (outcome.status, error["code"]) == (403, "read_only"), error
    assert error["details"]["needs"] == "--allow-write"
    assert "--read-only" not in error["message"]
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "config.toml").exists()


def test_a_pattern_that_never_ends_stops_only_its_own_request(real, monkeypatch):
    monkeypatch.setattr("kebab.limits.matching.DEADLINE_S", 0.5)
    monkeypatch.setattr("kebab.limits.worker.GRACE_S", 0.1)
    service = real(allow_write=True)
    answer(service, "ingest_text", encode_json(IngestTextRequest(text=b"a" * 60 + b"b", title="t")))

    async def main():
        endless = asyncio.ensure_future(service.answer("grep", b'{"pattern": "^(a+)+$"}'))
        return await service.answer("grep", b'{"pattern": "a+b"}'), await endless

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


def test_settings_that_break_are_an_error_until_they_are_mended(make_operations, pool):
    faults = [ConfigInvalid(path="/c.toml", cause="not TOML"), None]

    def load():
        if fault := faults.pop(0):
            raise fault
        return Settings()

    service = make_operations(load_settings=load)

    assert answer(service, "list", b"").status == 400
    assert answer(service, "list", b"").status == 200


def test_a_search_never_waits_for_long_work(make_operations, pool):
    async def main():
        service = make_operations()
        stuck = [
            asyncio.ensure_future(service.answer("ask", b'{"question": "stuck"}')) for _ in range(9)
        ]
        found = await asyncio.wait_for(service.answer("search", b'{"query": "cat"}'), PATIENCE_S)
        for one in stuck:
            one.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)
        return found.status

    assert asyncio.run(main()) == 200


def test_too_many_waiting_requests_are_refused(make_operations, pool, monkeypatch):
    monkeypatch.setattr("kebab.server.requests._MOST_WAITING", 0)
    with pytest.raises(ServerBusy):
        answer(make_operations(), "search", b'{"query": "cat"}')


def test_a_question_that_nobody_waits_for_ends_at_its_next_event(make_operations, pool):
    async def main():
        service = make_operations()
        asking = asyncio.ensure_future(service.answer("ask", b'{"question": "stuck"}'))
        await asyncio.to_thread(wait_until, lambda: pool.asked)
        asking.cancel()
        await asyncio.to_thread(wait_until, lambda: pool.interrupted)
        return service.measure_idle()

    assert asyncio.run(main()) > 0


def test_closing_stops_what_runs(make_operations, pool):
    async def main():
        service = make_operations()
        asking = asyncio.ensure_future(service.answer("ask", b'{"question": "stuck"}'))
        await asyncio.to_thread(wait_until, lambda: pool.asked)
        assert service.measure_idle() == 0
        service.close()
        return await asyncio.wait_for(asking, PATIENCE_S)

    outcome = asyncio.run(main())
    assert (outcome.status, outcome.reply.code) == (499, "cancelled")
