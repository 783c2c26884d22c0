import click
import pytest

from kebab.cli.options import (
    create_global_options,
    detect_error_language,
    filter_options,
    select_global_options,
)
from kebab.errors.start import detect_json_output

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
def test_json_output_is_detected_in_unparsed_arguments(arguments, wanted):
    assert detect_json_output(arguments) is wanted


@pytest.mark.parametrize(("flag", "heard"), EVERYWHERE)
@pytest.mark.parametrize("before", [True, False])
def test_shared_flags_go_before_and_after_the_command(kebab, opened, flag, heard, before):
    kebab(*([flag, "doctor"] if before else ["doctor", flag]))

    assert heard(opened[0])


def test_shared_flags_go_between_group_and_subcommand_too(kebab):
    assert kebab("model", "--json", "list").reply["schema_version"] == "model_list.v1"


@pytest.mark.parametrize("flag", ["--data-dir", "--config"])
def test_an_empty_flag_value_is_refused(kebab, opened, flag):
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


def test_verbose_shows_the_causes_of_an_unexpected_error(kebab):
    quiet, verbose = kebab("search", "surprise"), kebab("search", "surprise", "--verbose")

    assert "nobody expected this" not in quiet.err
    assert "caused by: RuntimeError: nobody expected this" in verbose.err


@pytest.mark.parametrize(("choice", "colored"), [("always", True), ("never", False)])
def test_color_is_a_choice(kebab, choice, colored):
    assert ("\x1b[" in kebab("doctor", "--color", choice).out) is colored


def test_a_flag_that_a_command_has_itself_is_not_shared_with_it():
    own = [click.Option(["--lang", "-l"])]

    left = {name for one in select_global_options(own) for name in one.opts}

    assert left == {name for one in create_global_options() for name in one.opts} - {"--lang"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lang", "ko", "search", "broken"], "저장소가 손상되었습니다: kebab.db"),
        (["search", "broken", "--lang", "ko"], "the store is damaged: kebab.db"),
        (["--lang", "zh", "search", "broken", "--lang", "ko"], "存储已损坏"),
        (["inspect", "doc", "broken", "--lang", "ko"], "저장소가 손상되었습니다: kebab.db"),
        (["inspect", "--lang", "ko", "doc", "broken"], "저장소가 손상되었습니다: kebab.db"),
        (["--lang", "ko", "inspect", "--lang", "zh", "doc", "broken"], "存储已损坏"),
        (["--lang=ko", "--nope"], "명령을 이해할 수 없습니다: no such option"),
        (["doctor", "--nope", "--lang", "ko"], "명령을 이해할 수 없습니다: no such option"),
        (["search", "--nope", "--lang", "ko"], "no such option"),
        (["doctor", "--nope", "--", "--lang", "ko"], "no such option"),
        (["doctor", "--lang", "xx"], "invalid value for '--lang'"),
    ],
)
def test_errors_use_the_requested_language(kebab, arguments, message):
    assert kebab(*arguments).err.startswith(f"error: {message}")
    assert kebab("--json", *arguments).fault["message"].startswith(message)


@pytest.mark.parametrize("command", ["search", "list", "ask"])
def test_the_own_lang_flag_of_a_command_filters_documents(kebab, opened, command):
    words = [] if command == "list" else ["word"]
    kebab("--lang", "zh", command, *words, "--lang", "ko")

    assert "'ko'" in repr(opened[0].asked[0][1])
    assert opened[0].settings.lang == "zh"


def test_help_says_what_the_flag_means_where(kebab):
    assert "--lang [en|ko|zh]" in kebab("doctor", "--help").out
    assert "--lang CODE" in kebab("list", "--help").out
    assert "--lang [en|ko|zh]" not in kebab("list", "--help").out


def test_a_language_is_expected_as_far_as_it_shows():
    @click.command(params=create_global_options())
    def plain():
        pass

    @filter_options
    @click.command()
    def filtering():
        pass

    assert detect_error_language(["--nope", "--lang", "ko"], plain) == "ko"
    assert detect_error_language(["--lang=zh", "--lang=ko"], plain) == "zh"
    assert detect_error_language(["--lang"], plain) is None
    assert detect_error_language(["--lang", "de"], plain) is None
    assert detect_error_language(["--lang", "ko"], filtering) is None
