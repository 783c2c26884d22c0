import pytest

from kebab.search.borders import borders


def _sentences(text):
    starts = borders(text)
    ends = [*starts[1:], len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One ends.", "Another begins!", "Does it?", "It does."],
        ['He said "stop."', "Then he left."],
        ["It was so.[12]", "It is."],
        ["一つ目。", "二つ目\uff01", "三つ目\uff1f"],
        ["彼は「はい。」", "次の文。"],
        ["यह पहला है।", "यह दूसरा है।"],
        ["a heading", "- a list", "| a | table |"],
    ],
)
def test_sentences_of_any_script_are_told_apart(sentences):
    wide = sentences[0][-1] in "。」"
    glue = "\n" if sentences[0] == "a heading" else "" if wide else " "

    assert _sentences(glue.join(sentences)) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Who met J. Smith of the U.S. Army.",
        "See fig. 4 for it.",
        "It has 3.5 parts and e.g. two wheels.",
        "an ellipsis ... goes on",
        "彼は「はい。」と言った。",
    ],
)
def test_what_ends_no_sentence_begins_none(text):
    assert borders(text) == [0]


def test_blank_lines_are_one_border_and_the_end_is_none():
    assert borders("one\n\n\ntwo\n") == [0, 6]
    assert borders("") == [0]
