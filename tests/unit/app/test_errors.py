import json
from pathlib import Path

import pytest

from kebab.app.classify import classify_error
from kebab.app.context import AppContext
from kebab.app.errors import (
    FailedCall,
    build_audit,
    count_errors,
    explain_codes,
    inspect_error,
    record_error,
)
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.catalog import Locked, ModelBusy, ModelUnreachable
from kebab.errors.log import append_line
from kebab.wire.error import ErrorCatalog, ErrorsRequest, ExplainRequest, InspectErrorRequest
from kebab.wire.record import NotFound

START = 1_700_000_000.0
BUSY = ModelBusy(endpoint="http://x", operation="ask")
LOCKED = Locked(path="x", holder_pid=7)


@pytest.fixture
def log():
    return resolve_paths(Settings()).log


@pytest.fixture
def fail(log, monkeypatch):
    """Note a fault at some second; return its correlation id."""

    def note(fault, second):
        monkeypatch.setattr("kebab.app.errors.time.time", lambda: START + second)
        known = classify_error(fault, operation="ask")
        assert record_error(fault, known, FailedCall(), log)
        return known.reply.correlation_id

    return note


def context():
    return AppContext(Settings(), config_path=Path("absent.toml"))


def count(**fields):
    return count_errors(context(), ErrorsRequest(**fields))


def show(name):
    return inspect_error(context(), InspectErrorRequest(name=name))


def group(reply, by):
    return next(one for one in reply.groups if one.by == by)


def test_errors_are_counted_most_frequent_first(log, fail):
    ids = [fail(BUSY, 1), fail(LOCKED, 2), fail(BUSY, 3), fail(ValueError("x"), 4)]

    reply = count()

    assert (reply.total, reply.unreadable, reply.since) == (4, 0, None)
    assert [one.by for one in reply.groups] == ["code", "kind", "retry", "severity", "operation"]
    first, second, third = group(reply, "code").counts
    assert [(one.value, one.count, one.share) for one in (first, second, third)] == [
        ("model_busy", 2, 0.5),
        ("generic", 1, 0.25),
        ("locked", 1, 0.25),
    ]
    assert (first.first_at, first.last_at) == (
        "2023-11-14T22:13:21.000Z",
        "2023-11-14T22:13:23.000Z",
    )
    assert first.correlation_ids == [ids[2], ids[0]]
    assert [(one.value, one.count) for one in group(reply, "retry").counts] == [
        ("transient", 3),
        ("none", 1),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        lambda good: json.dumps(good).encode()[:-20],
    ],
)
def test_an_unreadable_line_is_skipped_and_counted(log, fail, line):
    fail(BUSY, 1)
    good = json.loads(log.read_text())
    append_line(log, line if isinstance(line, bytes) else line(good))
    fail(BUSY, 2)

    reply = count()

    assert (reply.total, reply.unreadable) == (2, 1)


def test_an_error_is_found_by_its_id_or_a_prefix(log, fail):
    fail(BUSY, 1)
    wanted = fail(ValueError("inner"), 2)

    for name in (wanted, wanted[:8], f" {wanted.upper()} "):
        found = show(name)
        assert not isinstance(found, NotFound)
        assert (found.correlation_id, found.message) == (wanted, "inner")


def test_an_ambiguous_prefix_lists_the_ids(log, fail):
    fail(BUSY, 1)
    line = json.loads(log.read_text())
    for name in ("zz1", "zz2"):
        append_line(log, json.dumps({**line, "correlation_id": name}).encode())

    found = show("zz")

    assert isinstance(found, NotFound)
    assert (found.error.kind, sorted(found.error.candidates)) == ("ambiguous", ["zz1", "zz2"])


def test_a_server_that_is_away_is_counted_with_its_model_and_the_operation(log, fail):
    fail(ModelUnreachable(endpoint="http://x", operation="ask", cause="y", model="gemma3:4b"), 1)

    assert [one.value for one in group(count(by="model"), "model").counts] == ["gemma3:4b"]
    assert [one.value for one in group(count(by="operation"), "operation").counts] == ["ask"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("model_busy", ["model_busy"]),
        ("LLM.TIMEOUT", ["timeout"]),
        ("E_ADAPTER_VALIDATION", ["client_config_invalid", "parse_failed"]),
    ],
)
def test_a_code_of_each_of_the_three_systems_is_explained(code, found):
    reply = explain_codes(context(), ExplainRequest(code=code))

    assert isinstance(reply, ErrorCatalog)
    assert [row.code for row in reply.errors] == found


CALL = FailedCall(("search", "--api-key", "hunter2", "what?"), "/kb")


def _raised(fault, cause=None):
    try:
        raise fault from cause
    except type(fault) as caught:
        return caught


def _kept(log, fault, call=CALL):
    known = classify_error(fault, operation="search")
    assert record_error(fault, known, call, log)
    return known, json.loads(log.read_text(encoding="utf-8").splitlines()[-1])


def test_a_line_has_what_the_public_view_omits(tmp_path):
    fault = _raised(ValueError("inner, /home/me"), KeyError("why"))

    known, line = _kept(tmp_path / "kebab.log", fault)

    assert line["correlation_id"] == known.reply.correlation_id
    assert (line["code"], line["severity"], line["retry"]) == ("generic", "critical", "none")
    assert (line["message"], line["chain"]) == (
        "inner, /home/me",
        ["ValueError: inner, /home/me", "KeyError: 'why'"],
    )
    assert line["traceback"][0] == "KeyError: 'why'"
    assert any("raise fault from cause" in one for one in line["traceback"])


def test_secrets_are_in_no_part_of_a_line(tmp_path):
    log = tmp_path / "kebab.log"
    cause = ValueError("Authorization: Bearer hunter2")
    fault = ModelUnreachable(endpoint="http://me:hunter2@host", operation="ask", cause="x")

    _kept(log, _raised(fault, cause), FailedCall(("--password=hunter2",), "http://me:hunter2@x"))

    assert "hunter2" not in log.read_text(encoding="utf-8")


def test_a_line_has_a_maximum_length():
    deep = ValueError("x" * 100_000)
    for number in range(100):
        deep = _raised(ValueError(f"{number} " + "y" * 5_000), deep)

    kept = build_audit(
        deep, classify_error(deep, operation="x"), FailedCall(("z" * 9_000,) * 9_000)
    )

    assert len(kept.chain) == 20
    assert "… " in kept.traceback[40]
    assert len(json.dumps(kept.traceback)) < 60_000
    assert len(kept.meta.argv) == 100
    assert max(map(len, [*kept.chain, kept.message])) == 4_000


def test_a_secret_at_the_cut_is_not_shown():
    for before in (*range(280, 300, 3), *range(3_980, 4_000, 3), *range(12_170, 12_200, 3)):
        text = "x" * before + " token=hunter2" + "y" * 20_000
        fault = ValueError(text)

        kept = build_audit(fault, classify_error(fault, operation="x"), FailedCall((text,)))

        assert "hunt" not in json.dumps([kept.message, kept.chain, kept.traceback, kept.meta.argv])


@pytest.mark.parametrize("name", ["file/kebab.log", "file/deeper/kebab.log"])
def test_an_unwritable_log_raises_no_second_error(tmp_path, name):
    (tmp_path / "file").write_text("")
    fault = ValueError("x")

    assert not record_error(fault, classify_error(fault, operation="x"), CALL, tmp_path / name)
    assert (tmp_path / "file").read_text() == ""
