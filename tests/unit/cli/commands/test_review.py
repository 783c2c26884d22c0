import pytest

from kebab.cli.commands.review import command

TEXT = "# Doors\n\nOpen the the door.\n"


@pytest.fixture
def note(home, monkeypatch):
    monkeypatch.chdir(home)
    file = home / "a.md"
    file.write_text(TEXT, encoding="utf-8")
    return file


def requests(opened, name):
    return [request for known in opened for what, request in known.asked if what == name]


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
        ["--explain", "repeated-word", "--no-llm"],
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
    text = kebab("review", "--explain", "repeated-word").out

    assert text.startswith("repeated-word  warning\n\nA word is written twice in a row.\n")
    assert "    Open the the settings.\n" in text
    assert "repeated-word\twarning\ton\t" in kebab("review", "--explain", "all").out


def test_an_unknown_rule_has_near_names(kebab):
    ran = kebab("review", "--explain", "repeated-wrd", "--json")

    assert (ran.status, ran.reply["error"]["candidates"]) == (1, ["repeated-word"])


def test_errors_about_imported_items_name_the_flag():
    flags = {param.name: param.opts for param in command.params}

    assert flags["imported"] == ["--import"]
