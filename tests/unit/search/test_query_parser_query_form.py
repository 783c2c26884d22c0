import pytest

from kebab.search.query_parser import is_command_line, is_question, reads_as_question


@pytest.mark.parametrize(
    "text",
    ["how to restore", "restore it?", "and then where", "복원하나요", "何ですか", "什么是快照"],
)
def test_a_question_is_recognized(text):
    assert is_question(text)


@pytest.mark.parametrize("text", ["restore snapshot", "the dialog that shows where", "快照 恢复"])
def test_other_text_is_no_question(text):
    assert not is_question(text)


@pytest.mark.parametrize("text", ["can I use git -C", "does it -draft", "how is it"])
def test_a_leading_verb_asks_too(text):
    assert reads_as_question(text)


def test_a_verb_within_a_text_does_not_ask():
    assert not reads_as_question("notes that can be restored")


@pytest.mark.parametrize(
    "text",
    [
        "ssh -p 22",
        "docker run -it",
        "run --all",
        "x -o=yaml",
        "$ tar -xvf x",
        "FOO=1 npm run x",
        "cat notes | less",
        "./run.sh -fast",
        "-verbose option",
        "옵션 -verbose",
        "java -jar x",
    ],
)
def test_a_command_line_is_recognized(text):
    assert is_command_line(text)


@pytest.mark.parametrize(
    "text", ["git workflow -draft", "java -coffee", "cat -dog", "a = b", "", "notes -5 -draft"]
)
def test_words_of_other_topics_are_no_command_line(text):
    assert not is_command_line(text)
