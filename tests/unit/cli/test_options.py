import pytest

from kebab.cli.options import expects_json

EVERYWHERE = [
    ("--read-only", lambda one: one.read_only),
    ("--data-dir=/elsewhere", lambda one: one.settings.data_dir == "/elsewhere"),
]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["search", "x"], False),
        (["--json", "search"], True),
        (["search", "--nope", "--json"], True),
        (["--output-format", "json"], True),
        (["--output-format=json"], True),
        (["--output-format=text"], False),
        (["--json", "--output-format", "text"], False),
        (["--output-format"], False),
        (["ingest", "--stream"], True),
        (["search", "--bulk"], True),
        (["search", "--", "--json"], False),
    ],
)
def test_what_a_caller_expects_shows_before_flags_are_understood(arguments, wanted):
    assert expects_json(arguments) is wanted


@pytest.mark.parametrize(("flag", "heard"), EVERYWHERE)
@pytest.mark.parametrize("before", [True, False])
def test_shared_flags_go_before_and_after_the_command(kebab, opened, flag, heard, before):
    kebab(*([flag, "doctor"] if before else ["doctor", flag]))

    assert heard(opened[0])


def test_shared_flags_go_between_group_and_subcommand_too(kebab):
    assert kebab("model", "--json", "list").reply["schema_version"] == "model_list.v1"


@pytest.mark.parametrize("flag", ["--data-dir", "--config"])
def test_an_empty_name_is_refused_rather_than_taken_for_none(kebab, opened, flag):
    ran = kebab(flag, "", "reset", "--yes", "--json")

    assert (ran.status, ran.fault["code"], opened) == (2, "usage_invalid", [])


def test_the_later_flag_wins(kebab):
    assert kebab("--json", "doctor", "--output-format", "text").out.startswith("kebab v")
    assert kebab("doctor", "--output-format", "text", "--json").reply["command"] == "doctor"


def test_a_query_after_two_dashes_is_no_flag(kebab, opened):
    ran = kebab("search", "--", "--json")

    assert ran.out.startswith(" 1")
    assert opened[0].asked[0][1].query == "--json"


def test_a_value_that_looks_like_a_flag_stays_a_value(kebab, opened):
    ran = kebab("search", "--path", "--json", "word")

    assert ran.out.startswith(" 1")
    assert opened[0].asked[0][1].path_glob == "--json"


def test_verbose_shows_the_causes_of_what_nobody_expected(kebab):
    quiet, verbose = kebab("search", "surprise"), kebab("search", "surprise", "--verbose")

    assert "nobody expected this" not in quiet.err
    assert "caused by: RuntimeError: nobody expected this" in verbose.err


@pytest.mark.parametrize(("choice", "colored"), [("always", True), ("never", False)])
def test_color_is_a_choice(kebab, choice, colored):
    assert ("\x1b[" in kebab("doctor", "--color", choice).out) is colored
