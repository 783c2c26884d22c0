from pathlib import Path

import pytest

from tests.fakes.console import run
from tests.unit.cli.conftest import TEXT, requests


def test_flags_reach_the_library(kebab, opened):
    kebab(
        *("review", "nowhere", "--tier", "deep", "-n", "5", "--rules", "a,b"),
        *("--model", "m", "--fail-on", "error"),
    )

    (request,) = requests(opened, "review")
    assert (request.names, request.tier, request.limit) == (["nowhere"], "deep", 5)
    assert (request.rules, request.model, request.fail_on) == (["a", "b"], "m", "error")
    assert (request.all_pages, request.no_llm) == (True, False)


def test_a_pipe_gets_one_line_for_each_finding(kebab, note):
    ran = kebab("review", "a.md")

    assert ran.status == 1
    assert ran.out == "a.md:3:9: warning: the word is repeated: the [repeated-word]\n"
    assert "1 finding in 1 document\n1\trepeated-word\twarning\n" in ran.err


def test_the_exit_status_follows_all_pages(kebab, note, home):
    (home / "b.md").write_text("# Clean\n", encoding="utf-8")

    assert kebab("review", "a.md", "b.md").status == 1
    assert kebab("review", "a.md", "b.md", "--fail-on", "error").status == 0
    assert kebab("review", "b.md").status == 0


def test_json_has_one_page(kebab, note, home, opened):
    (home / "b.md").write_text(TEXT, encoding="utf-8")
    ran = kebab("review", "a.md", "b.md", "--json")

    assert (ran.status, ran.reply["schema_version"]) == (1, "agent_items.v2")
    assert (ran.reply["has_more"], ran.reply["next_cursor"]) == (True, "CURSOR")
    assert not requests(opened, "review")[0].all_pages
    assert {one["schema_version"] for one in ran.asides} == {"review_event.v1"}
    assert "items" not in {one["type"] for one in ran.asides}


def test_an_interruption_keeps_what_is_done(kebab, note, home):
    late = home / "late.md"
    late.write_text(TEXT, encoding="utf-8")
    ran = kebab("review", "a.md", "late.md")

    assert ran.status == 130
    assert ran.out.startswith("a.md:3:9: ")
    assert "go on: kebab review --run-id 4f1d2c3b" in ran.err


def test_an_unknown_run_is_an_answer():
    ran = run("review", "--run-id", "nowhere")

    assert (ran.status, "nowhere" in ran.out) == (1, True)


def test_a_form_of_text_is_refused_with_json(kebab):
    ran = kebab("review", "a.md", "--format", "sarif", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "usage_invalid")
    assert ran.fault["message"].endswith("`--json` and `--format` exclude each other")


@pytest.fixture
def notes(home, monkeypatch):
    monkeypatch.chdir(home)
    for name, text in (("a.md", "# Doors\n\nOpen the the door.\n"), ("b.md", "# Clean\n")):
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("notes")
def test_a_stream_has_all_pages_and_the_status_of_all(kebab, opened):
    ran = kebab("review", "a.md", "b.md", "--stream")

    types = [event["type"] for event in ran.events]
    assert types == ["progress", *["stage", "items"] * 2, "complete", "end"]
    assert [event["exit_code"] for event in ran.events] == [None] * 5 + [1, 1]
    assert (ran.status, ran.err) == (1, "")
    (request,) = requests(opened, "review")
    assert request.all_pages


def test_changes_are_compared_with_head_unless_told(kebab, opened, note, home):
    (home / "sub").mkdir()
    for arguments in (["--changed"], ["--changed", "sub"], ["--changed", "main", "a", "b"]):
        kebab("review", *arguments)
    found = [(request.names, request.changed) for request in requests(opened, "review")]
    assert found == [(["."], "HEAD"), (["sub"], "HEAD"), (["a", "b"], "main")]


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["a.md", "--unsafe"], "`--unsafe` goes with `--apply`"),
        ([], "give DOC, PATH or GLOB, or `--run-id`"),
        (["a.md", "--run-id", "R"], "`--run-id` and DOC, PATH or GLOB exclude each other"),
        (["a.md", "--cursor", "C"], "`--cursor` goes with `--run-id`"),
    ],
)
def test_flags_that_exclude_or_need_each_other(kebab, arguments, cause):
    ran = kebab("review", *arguments, "--json")
    assert (ran.status, ran.fault["code"]) == (2, "usage_invalid")
    assert cause in ran.fault["message"]
