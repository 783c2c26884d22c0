import pytest

from kebab.cli.command import COMMANDS
from kebab.cli.commands.help import TOPICS
from tests.shape.tree import ROOT

FOR_DEVELOPERS = {"README", "design-notes", "development"}


def test_every_page_is_a_topic_and_no_topic_is_a_command():
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")}

    assert set(TOPICS) == pages - FOR_DEVELOPERS
    assert not set(TOPICS) & set(COMMANDS)


def test_the_list_of_pages_fits_a_terminal(kebab):
    done = kebab("help")

    assert done.status == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert [line.split()[0] for line in done.out.splitlines()[1:-2]] == [*TOPICS]


def test_a_page_is_printed_without_its_marks(kebab):
    text = kebab("help", "settings").out

    assert text.startswith("# Settings")
    assert "<!--" not in text
    assert kebab("help", "settings", "--json").reply["text"].rstrip() == text.rstrip()


@pytest.mark.parametrize("words", [("search",), ("model", "pull")])
def test_the_name_of_a_command_shows_its_help(kebab, words):
    assert kebab("help", *words).out == kebab(*words, "--help").out
    assert kebab("help", *words, "--json").reply["topic"] == " ".join(("kebab", *words))
