"""A shell completes names of the knowledge base, and never shows an error."""

import click
import pytest
from click.shell_completion import ShellComplete

from kebab.app.facade import Kebab
from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.command import root
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.main import COMPLETION_VARIABLE
from kebab.cli.options import (
    build_request,
    create_global_options,
    field_options,
    select_global_options,
)
from kebab.config.load import load_settings
from kebab.errors.catalog import InvalidInput
from kebab.wire.ask import AskRequest
from kebab.wire.ingest import IngestRequest
from kebab.wire.search import SearchRequest

EVERYWHERE = [
    ("--read-only", lambda one: one.read_only),
    ("--data-dir=/elsewhere", lambda one: one.settings.data_dir == "/elsewhere"),
]


@pytest.mark.parametrize(("flag", "heard"), EVERYWHERE)
@pytest.mark.parametrize("before", [True, False])
def test_shared_flags_go_before_and_after_the_command(kebab, opened, flag, heard, before):
    kebab(*([flag, "doctor"] if before else ["doctor", flag]))

    assert heard(opened[0])


@pytest.mark.parametrize("flag", ["--data-dir", "--config"])
def test_an_empty_flag_value_is_refused(kebab, opened, flag):
    ran = kebab(flag, "", "reset", "--yes", "--json")

    assert (ran.status, ran.fault["code"], opened) == (2, "usage_invalid", [])


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
        (["doctor", "--lang", "xx"], "invalid `--lang`: `xx` is"),
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


NOTE = "---\ntags: [work/a, home]\nlang: en\n---\n# Cat\n\nthe cat sleeps on the warm stove\n"


@pytest.fixture
def complete(tmp_path):
    """Complete the last word of a line; return the completions that the shell gets."""
    channels = OutputChannels(OutputChannel(1, "<stdout>"), OutputChannel(2, "<stderr>"))

    def complete(*words):
        context = CommandContext(channels, Interrupts(lambda: None))
        completer = ShellComplete(root, {"obj": context}, "kebab", COMPLETION_VARIABLE)
        before, last = ["--data-dir", str(tmp_path / "data"), *words[:-1]], words[-1]
        return completer.get_completions(before, last)

    return complete


@pytest.fixture
def filled(tmp_path):
    """A knowledge base of one note."""
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / "deep" / "cat.md").write_text(NOTE)
    flags = {"data_dir": str(tmp_path / "data")}
    settings = load_settings(environ={"KEBAB_OFFLINE": "1"}, flags=flags)
    with Kebab(settings, config_path=tmp_path / "config.toml") as kebab:
        kebab.run(IngestRequest(paths=[str(tmp_path / "notes")]))


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("search", "x", "--tag", "wo"), ["work/a"]),
        (("search", "x", "--path", ""), ["deep/cat.md"]),
        (("inspect", "doc", "de"), ["deep/cat.md"]),
        (("inspect", "Ca"), ["deep/cat.md"]),
        (("list", "--type", "text"), ["text/markdown"]),
        (("explain", "model_n"), ["model_not_pulled"]),
        (("model", "use", "multi"), ["multilingual-e5-small"]),
        (("schema", "bulk"), ["bulk_search_item.v1"]),
        (("sea",), ["search"]),
    ],
)
def test_a_shell_completes_names(filled, complete, words, values):
    assert [item.value for item in complete(*words)] == values


def test_without_a_knowledge_base_there_is_nothing_and_nothing_is_written(
    tmp_path, complete, capfd
):
    assert complete("search", "x", "--tag", "w") == []
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_shell_completes_files_itself(complete):
    assert [item.type for item in complete("ingest", "no")] == ["file"]


def test_a_flag_has_the_type_of_its_field():
    names = ("mode", "per_doc", "rerank", "cursor", "limit", "trace")

    @click.command()
    @field_options(SearchRequest, **dict.fromkeys(names, "x"))
    def command(): ...

    told = [one.get_help_record(click.Context(command)) for one in command.params]
    assert [record[0] for record in filter(None, told)] == [
        "--mode [hybrid|lexical|vector]",
        "--per-doc N",
        "--rerank / --no-rerank",
        "--cursor CURSOR",
        "-n, --limit N",
        "--trace",
    ]


@pytest.mark.parametrize(
    ("form", "fields"), [(SearchRequest, {"query": "x"}), (AskRequest, {"question": "x"})]
)
def test_fields_that_break_the_schema_are_named(form, fields):
    assert build_request(form, fields)
    with pytest.raises(InvalidInput, match=r"\$\.limit"):
        build_request(form, fields, limit=0)
