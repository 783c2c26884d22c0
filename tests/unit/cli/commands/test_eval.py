import json

import pytest

from tests.contract.conftest import load_validators


@pytest.fixture(autouse=True)
def golden(home, monkeypatch):
    monkeypatch.chdir(home)
    lines = ({"query": "restore", "doc": "backup.md"}, {"query": "nothing", "answerable": False})
    (home / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return home


def validated(reply):
    load_validators()[reply["schema_version"]].validate(reply)
    return reply


def test_a_run_prints_a_report_and_reports_progress_on_stderr(kebab):
    ran = kebab("eval", "queries.jsonl", "--json")

    reply = validated(ran.reply)
    assert (ran.status, reply["schema_version"], reply["command"]) == (
        0,
        "eval_report.v1",
        "eval",
    )
    assert [one["mode"] for one in reply["modes"]] == ["hybrid", "lexical", "vector"]
    assert {validated(one)["schema_version"] for one in ran.asides} == {"ingest_progress.v1"}


def test_the_knowledge_base_is_only_read(kebab, opened):
    kebab("eval", "queries.jsonl")

    assert [one.read_only for one in opened] == [True]
