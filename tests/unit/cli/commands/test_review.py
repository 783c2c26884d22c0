import json
from pathlib import Path

import pytest

from kebab.cli.commands.review import (
    MAX_BYTES,
    OTHER_TASKS,
    command,
    find_contradictions,
    read_older_items,
)
from kebab.errors.catalog import InvalidInput, IoError, TooLarge
from tests.fakes.console import standard_input
from tests.unit.cli.conftest import TEXT, requests


def test_flags_reach_the_library(kebab, opened):
    kebab(
        *("review", "nowhere", "--tier", "deep", "-n", "5", "--rules", "a,b"),
        *("--model", "m", "--fail-on", "error"),
    )

    (request,) = requests(opened, "review")
    assert (request.names, request.tier, request.limit) == (["nowhere"], "deep", 5)
    assert (request.rules, request.model, request.fail_on) == (["a", "b"], "m", "error")
    assert (request.all_pages, request.require_llm, request.no_llm) == (True, True, False)


def test_a_quick_review_does_not_require_a_model(kebab, opened):
    kebab("review", "nowhere", "--tier", "quick", "--no-llm")

    (request,) = requests(opened, "review")
    assert (request.require_llm, request.no_llm) == (False, True)


def test_a_pipe_gets_one_line_for_each_finding(kebab, note):
    ran = kebab("review", "a.md")

    assert ran.status == 1
    assert ran.out == "a.md:3:9: warning: the word is repeated: the [repeated-word]\n"
    assert "1 finding in 1 document: 1 warning" in ran.err


def test_a_clean_document_has_no_findings(kebab, note):
    note.write_text("# Doors\n", encoding="utf-8")
    ran = kebab("review", "a.md")

    assert (ran.status, ran.out, ran.err) == (0, "", "no findings in 1 document\n")


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


def test_an_interrupted_page_is_printed(kebab, home, monkeypatch):
    monkeypatch.chdir(home)
    (home / "late.md").write_text(TEXT, encoding="utf-8")
    ran = kebab("review", "late.md", "--json")

    assert (ran.status, ran.reply["exit_code"]) == (130, 130)


def test_github_gets_annotations(kebab, note):
    ran = kebab("review", "a.md", "--format", "github")

    assert ran.out == (
        "::warning file=a.md,line=3,endLine=3,col=9,endColumn=13,title=repeated-word"
        "::the word is repeated: the\n"
    )


def test_vimgrep_counts_bytes(kebab, note):
    note.write_text("문 문이 the the 열린다.\n", encoding="utf-8")

    assert kebab("review", "a.md").out.startswith("a.md:1:9: ")
    assert kebab("review", "a.md", "--format", "vimgrep").out.startswith("a.md:1:15: ")


def test_sarif_is_one_log(kebab, note):
    ran = kebab("review", "a.md", "--format", "sarif")

    assert ran.status == 1
    assert ran.out.startswith('{\n  "$schema": ')


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--json"],
        ["a.md", "--run-id", "R"],
        ["a.md", "--cursor", "C"],
        ["a.md", "--no-llm", "--model", "m"],
        ["a.md", "--no-llm", "--tier", "deep"],
        ["a.md", "--yes"],
        ["a.md", "--dry-run"],
        ["a.md", "--apply", "--format", "vimgrep"],
        ["--run-id", "R", "--apply", "--cursor", "C"],
        ["--runs", "a.md"],
        ["--runs", "--forget", "R"],
        ["--explain", "broken-link", "--no-llm"],
        ["a.md", "--tier", "slow"],
        ["a.md", "--fail-on", "all"],
        ["a.md", "-n", "0"],
        ["a.md", "--format", "xml"],
        ["--run-id", ""],
    ],
)
def test_wrong_flags_are_refused(kebab, flags):
    ran = kebab("review", *flags, *([] if "--json" in flags else ["--json"]))

    assert (ran.status, ran.out, ran.fault["code"]) == (2, "", "usage_invalid")


@pytest.mark.parametrize("form", ["sarif", "github", "vimgrep"])
def test_forms_of_text_are_refused_with_json(kebab, form):
    ran = kebab("review", "a.md", "--format", form, "--json")

    assert (ran.status, ran.fault["code"]) == (2, "usage_invalid")
    assert ran.fault["message"].endswith("`--json` and `--format` exclude each other")


def test_runs_are_listed_and_forgotten(kebab):
    assert kebab("review", "--runs").out == (
        "4f1d2c3b\treview\tquick\tunfinished\t2\t3\t4"
        "\t2026-01-15T09:00:00.000Z\t2026-01-15T09:01:00.000Z\tdocs a.md\n"
    )
    assert kebab("review", "--runs", "--json").reply["schema_version"] == "review_runs.v1"
    assert kebab("review", "--forget", "R", "--forget", "S").out == "deleted: R, S\n"
    assert kebab("review", "--forget", "nowhere", "--json").status == 1


def test_a_rule_is_explained(kebab):
    text = kebab("review", "--explain", "broken-link").out

    assert text.startswith("broken-link  error\n\n")
    assert "broken-link\terror\ton\t" in kebab("review", "--explain", "all").out


def test_errors_about_imported_items_name_the_flag():
    flags = {param.name: param.opts for param in command.params}

    assert flags["imported"] == ["--import"]


@pytest.mark.parametrize(
    "given",
    [
        {"names"},
        {"run_id"},
        {"run_id", "cursor", "json"},
        {"names", "apply", "yes", "json"},
        {"names", "deep", "tier", "model", "form"},
        {"explain", "json"},
    ],
    ids=lambda given: "+".join(sorted(given)),
)
def test_flags_that_belong_together_are_fine(given):
    assert list(find_contradictions(given)) == []


def test_contradictions_name_the_flags():
    assert list(find_contradictions({"names", "run_id"})) == [
        "`--run-id` and DOC, PATH or GLOB exclude each other"
    ]
    assert next(find_contradictions({"names", "stream", "json", "form"})) == (
        "`--stream` and `--format` exclude each other"
    )
    assert list(find_contradictions({"names", "yes"})) == ["`--yes` goes with `--apply`"]
    assert list(find_contradictions(set())) == ["give DOC, PATH or GLOB, or `--run-id`"]


@pytest.mark.parametrize("task", OTHER_TASKS)
def test_another_task_takes_no_other_flag(task):
    assert any("no other argument" in cause for cause in find_contradictions({task, "names"}))


ITEM = {"key": "spelling", "severity": "error", "message": "why", "evidence": "teh"}
FIXED = {**ITEM, "suggestion": "the"}


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "items"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_older_items(str(path))

    return read_text


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([ITEM, FIXED]),
        json.dumps({"version": "v1", "items": [ITEM, FIXED]}, indent=2),
        f"{json.dumps(ITEM)}\n\n{json.dumps(FIXED)}\r\n",
        "\ufeff" + json.dumps([ITEM, FIXED]),
    ],
    ids=["list", "object", "lines", "byte order mark"],
)
def test_items_are_a_list_or_in_an_object_or_on_lines(read, text):
    assert [item.suggestion for item in read(text)] == [None, "the"]


def test_a_file_may_hold_one_item_or_none(read):
    assert len(read(json.dumps(ITEM, indent=1))) == 1
    assert read("") == []
    assert read("[]") == []


def test_items_come_from_stdin():
    with standard_input(json.dumps([ITEM]).encode()):
        assert read_older_items("-")[0].evidence == "teh"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (json.dumps([ITEM, {**ITEM, "severity": 3}]), "$[1].severity"),
        (json.dumps({"items": [{**ITEM, "more": 1}]}), "$.items[0]"),
        (json.dumps({"other": []}), "$"),
        ("3", "$"),
        (f"{json.dumps(ITEM)}\n{{}}\n", "$[1]"),
        (f"{json.dumps(ITEM)}\nnot JSON\n", "$[1]"),
        (b"\xff\xfe\x00", "$[0]"),
        (b"[" * 100_000, "$[0]"),
    ],
)
def test_another_shape_is_refused_with_its_path(read, text, field):
    with pytest.raises(InvalidInput) as caught:
        read(text)
    assert caught.value.field == field


def test_a_missing_file_and_a_large_one_are_refused(read, tmp_path):
    with pytest.raises(IoError):
        read_older_items(str(tmp_path / "missing"))
    with pytest.raises(IoError):
        read_older_items(str(tmp_path))
    with pytest.raises(TooLarge):
        read(b" " * (MAX_BYTES + 1))


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


@pytest.mark.usefixtures("notes")
def test_a_stream_of_a_clean_document_has_a_page_too(kebab):
    ran = kebab("review", "b.md", "--stream")
    (page,) = [event["data"]["page"] for event in ran.events if event["type"] == "items"]
    assert (ran.status, page["items"], page["has_more"]) == (0, [], False)


@pytest.mark.usefixtures("notes")
def test_items_of_a_file_become_part_of_the_request(kebab, opened):
    Path("items.json").write_text(json.dumps([ITEM]), encoding="utf-8")
    kebab("review", "a.md", "--import", "items.json")
    kebab("review", "a.md", "--import", "-", "--json", stdin=json.dumps(ITEM).encode())

    found = [request.imported[0].evidence for request in requests(opened, "review")]
    assert found == ["teh", "teh"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("a.md", "--replay", "x"),
        ("--replay", "x", "--stream"),
        ("--run-id", "r", "--import", "x"),
        ("a.md", "--apply", "--stream"),
        ("a.md", "--format", "sarif", "--stream"),
    ],
)
def test_flags_that_exclude_each_other_are_refused(kebab, arguments):
    assert kebab("review", *arguments).status == 2


def test_what_is_no_list_of_items_is_refused_with_its_path(kebab):
    ran = kebab("review", "a.md", "--import", "-", "--json", stdin=b'[{"key": 1}]')
    assert (ran.fault["code"], ran.fault["details"]["field"]) == ("invalid_input", "$[0].key")


def test_changes_are_compared_with_head_unless_told(kebab, opened, note, home):
    (home / "sub").mkdir()
    for arguments in (["--changed"], ["--changed", "sub"], ["--changed", "main", "a", "b"]):
        kebab("review", *arguments)
    found = [(request.names, request.changed) for request in requests(opened, "review")]
    assert found == [(["."], "HEAD"), (["sub"], "HEAD"), (["a", "b"], "main")]


def test_a_text_on_stdin_is_of_the_named_file(kebab, opened):
    for flags in ([], ["--stdin-filename", "sub/x.md"]):
        kebab("review", "-", *flags, stdin=b"One.\n")
    found = [(request.names, request.text) for request in requests(opened, "review")]
    assert found == [(["stdin.md"], "One.\n"), (["sub/x.md"], "One.\n")]


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["-", "a.md"], "`-` goes with no other document"),
        (["a.md", "--stdin-filename", "b.md"], "`--stdin-filename` goes with `-`"),
        (["-", "--changed"], "`--changed` and `-` exclude each other"),
        (["a.md", "--unsafe"], "`--unsafe` goes with `--apply`"),
    ],
)
def test_flags_that_exclude_or_need_each_other(kebab, arguments, cause):
    ran = kebab("review", *arguments, "--json")
    assert (ran.status, ran.fault["code"]) == (2, "usage_invalid")
    assert cause in ran.fault["message"]
