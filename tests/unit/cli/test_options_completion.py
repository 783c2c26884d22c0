"""A shell completes names of the knowledge base, and never shows an error."""

import pytest
from click.shell_completion import ShellComplete

from kebab.app.facade import Kebab
from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.command import root
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.main import COMPLETION_VARIABLE
from kebab.config.load import load_settings
from kebab.wire.ingest import IngestRequest

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
        (("list", "--media", "text"), ["text/markdown"]),
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
