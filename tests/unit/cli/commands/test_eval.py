import json
from xml.etree import ElementTree as ET

import pytest

from kebab.wire.record import encode_json
from tests.contract.conftest import load_validators
from tests.fakes.console import run
from tests.fakes.notes import NotesKebab
from tests.fakes.outcomes import mode, outcome, report


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
    ran = kebab("eval", "run", "queries.jsonl", "--json")

    reply = validated(ran.reply)
    assert (ran.status, reply["schema_version"], reply["command"]) == (
        0,
        "eval_report.v1",
        "eval run",
    )
    assert [one["mode"] for one in reply["modes"]] == ["hybrid", "lexical", "vector"]
    assert {validated(one)["schema_version"] for one in ran.asides} == {"eval_progress.v1"}


def test_text_output_is_a_table(kebab):
    ran = kebab("eval", "run", "queries.jsonl", "--mode", "lexical")

    assert "MRR@10" in ran.out
    assert "lexical, 0 s" in ran.err


def test_the_knowledge_base_is_only_read(kebab, opened):
    kebab("eval", "run", "queries.jsonl")
    kebab("eval", "init", "--out", "made.jsonl")

    assert [one.read_only for one in opened] == [True, True]


def test_flags_reach_the_search(kebab, opened):
    flags = "--mode vector -n 20 --per-doc 2 --rerank"
    kebab("eval", "run", "queries.jsonl", *flags.split())

    ((_, request), *_) = [one for one in opened[0].asked if one[0] == "search"]
    assert (request.mode, request.limit, request.per_doc) == ("vector", 20, 2)
    assert request.rerank is True


def test_the_written_report_is_the_json_output(kebab, golden):
    printed = kebab("eval", "run", "queries.jsonl", "--out", "a.json", "--json").reply

    kept = json.loads((golden / "a.json").read_text())
    assert {**kept, "timestamp": ""} == {**printed, "timestamp": ""}


def test_the_picture_shows_what_a_terminal_does(kebab, golden):
    printed = kebab("eval", "run", "queries.jsonl", "--svg", "a.svg").out

    picture = ET.parse(golden / "a.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    drawn = " ".join("".join(picture.itertext()).split())
    assert "hit@1" in printed
    assert "hit@1" in drawn
    assert "score of first hit" in drawn


@pytest.mark.parametrize("option", ["--out", "--svg"])
def test_the_questions_are_not_replaced_by_the_report(kebab, golden, opened, option):
    before = (golden / "queries.jsonl").read_text()

    ran = kebab("eval", "run", "queries.jsonl", option, "./queries.jsonl", "--json")

    assert (ran.status, ran.fault["code"], opened) == (2, "usage_invalid", [])
    assert (golden / "queries.jsonl").read_text() == before


def test_an_unwritable_report_path_is_refused_before_the_run(kebab, opened):
    ran = kebab("eval", "run", "queries.jsonl", "--out", "nowhere/a.json", "--json")

    assert (ran.status, ran.fault["code"], opened) == (2, "io_error", [])


def test_two_reports_are_compared(kebab, golden):
    for name, ranks in (("a.json", (1, 2)), ("b.json", (1, 1))):
        made = report(mode(*(outcome(str(at), rank) for at, rank in enumerate(ranks))))
        (golden / name).write_bytes(encode_json(made))

    reply = validated(kebab("eval", "compare", "a.json", "b.json", "--json").reply)

    assert (reply["exit_code"], reply["pairs"][0]["wins"]) == (0, 1)
    assert "better 1, worse 0" in kebab("eval", "compare", "a.json", "b.json").out


@pytest.fixture
def notes():
    texts = {"a.md": ["Stop the writer before restoring yesterday's snapshot from storage."]}

    def opener(*arguments, **flags):
        return NotesKebab(texts)

    return opener


def test_questions_are_made_from_the_notes(notes, golden):
    ran = run("eval", "init", "--out", "made.jsonl", "--json", opener=notes)

    reply = validated(ran.reply)
    lines = [json.loads(one) for one in (golden / "made.jsonl").read_text().splitlines()]
    assert (ran.status, reply["answerable"], reply["unanswerable"]) == (0, 1, 1)
    assert [validated(one)["schema_version"] for one in lines] == ["golden_query.v1"] * 2


def test_an_existing_file_stays_without_force(notes, golden):
    before = (golden / "queries.jsonl").read_text()

    refused = run("eval", "init", "--json", opener=notes)
    assert (refused.status, refused.fault["code"]) == (2, "usage_invalid")
    assert (golden / "queries.jsonl").read_text() == before

    assert run("eval", "init", "--force", opener=notes).status == 0
    assert (golden / "queries.jsonl").read_text() != before


def test_notes_that_give_no_question_write_nothing(golden):
    ran = run(
        "eval", "init", "--out", "made.jsonl", "--json", opener=lambda *a, **b: NotesKebab({})
    )

    assert (ran.status, ran.reply["written"]) == (1, False)
    assert not (golden / "made.jsonl").exists()


def test_an_interruption_keeps_the_report_that_was_there(kebab, golden, monkeypatch):
    (golden / "a.json").write_text("before")

    def interrupted(self, request):
        raise KeyboardInterrupt

    monkeypatch.setattr("tests.fakes.facade.FakeKebab.search", interrupted)
    ran = kebab("eval", "run", "queries.jsonl", "--out", "a.json", "--json")

    fault = ran.asides[-1]
    assert (ran.status, fault["code"]) == (130, "cancelled")
    assert (golden / "a.json").read_text() == "before"
