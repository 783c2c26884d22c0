import json

import pytest

from kebab.app.classify import classify_error
from kebab.app.errors import FailedCall, build_audit, record_error
from kebab.errors.catalog import ModelUnreachable

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
