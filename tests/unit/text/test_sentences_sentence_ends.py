import pytest

from kebab.text.sentences import find_sentence_starts


def _sentences(text):
    starts = find_sentence_starts(text)
    ends = [*starts[1:], len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One ends.", "Another begins!", "Does it?", "It does."],
        ['He said "stop."', "Then he left."],
        ["It was so.[12]", "It is."],
        ["一つ目。", "二つ目！", "三つ目？"],
        ["彼は「はい。」", "次の文。"],
        ["यह पहला है।", "यह दूसरा है।"],
        ["a heading", "- a list", "| a | table |"],
    ],
)
def test_sentences_of_any_script_are_split(sentences):
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
def test_text_without_a_sentence_end_has_one_start(text):
    assert find_sentence_starts(text) == [0]


@pytest.mark.parametrize(
    "sentences",
    [
        ["「行け。早く。」と彼は言った。", "終わり。"],
        ["東京（旧名。江戸）は都。", "次の文。"],
        ["Run `a… B` twice. ", "Then stop."],
        ["We sell pens, ink, etc.? ", "Yes."],
        ["so it began. ", "then it went on... or not. ", "it ended."],
        ["1. Mix the flour.\n", "2. Bake it.\n", "In 1998. ", "Then more."],
        ["A long line of a paragraph that was broken behind e.g.\n`this` one.\n", "Another."],
        ["A long line of a paragraph that ends where it was broken.\n", "qmd begins small."],
    ],
)
def test_snippets_and_answers_share_the_rule_for_stops(sentences):
    starts = find_sentence_starts("".join(sentences))

    assert starts == [len("".join(sentences[:count])) for count in range(len(sentences))]


def test_blank_lines_are_one_border_and_the_end_is_none():
    assert find_sentence_starts("one\n\n\ntwo\n") == [0, 6]
    assert find_sentence_starts("") == [0]


def test_a_wrapped_line_continues_its_sentence():
    wrapped = (
        "The mail gateway refused connections from six until seven since its\ncertificate ended."
    )

    assert find_sentence_starts(wrapped) == [0]


@pytest.mark.parametrize(
    "text",
    [
        "Buy milk\nCall Bob",
        "# A heading that is as long as a line of a paragraph that was broken\nA paragraph.",
        "An item that is as long as a line of a paragraph that was broken\n- another item",
        "An item that is as long as a line of a paragraph that was broken\n2. another item",
        "A paragraph as long as a line of a paragraph that was broken at all\n\nAnother one.",
        "A sentence as long as a line of a paragraph that was broken (at all.)\nAnother one.",
        "A sentence as long as a line of a paragraph that was broken at all. \nAnother one.",
    ],
)
def test_other_lines_end_where_they_break(text):
    assert len(find_sentence_starts(text)) == 2
