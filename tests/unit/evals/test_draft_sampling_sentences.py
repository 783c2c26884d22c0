import pytest

from kebab.evals.draft import Sentence, find_prose_sentences


def found(text, first=10):
    return [(one.text, one.first, one.last) for one in find_prose_sentences(text, first)]


def test_sentences_have_their_line_numbers():
    text = "One stops here. Two goes\non to the next. Three\n\nFour"

    assert found(text) == [
        ("One stops here.", 10, 10),
        ("Two goes\non to the next.", 10, 11),
        ("Three", 11, 11),
        ("Four", 13, 13),
    ]


def test_full_width_stops_end_a_sentence_without_a_blank():
    assert found("最初の文。次の文!") == [("最初の文。", 10, 10), ("次の文!", 10, 10)]


def test_a_point_within_a_word_ends_nothing():
    assert found("Use version 1.2 of a.md now.") == [("Use version 1.2 of a.md now.", 10, 10)]


@pytest.mark.parametrize(
    "line",
    [
        "# Heading",
        "| a | b |",
        "    code",
        "\tcode",
        "---",
        "<div>",
        "[1]: https://x",
        "key: value",
    ],
)
def test_lines_without_prose_are_left_out(line):
    assert found(f"Before it\n{line}\nafter it") == [("Before it", 10, 10), ("after it", 12, 12)]


def test_fenced_code_is_left_out():
    assert found("```sh\nrm everything\n```\nText.") == [("Text.", 13, 13)]


def test_items_of_a_list_are_sentences_of_their_own():
    assert found("- [x] first thing\n2. second thing\n> quoted") == [
        ("first thing", 10, 10),
        ("second thing", 11, 11),
        ("quoted", 12, 12),
    ]


def test_front_matter_is_left_out_at_the_beginning_of_a_file_only():
    text = "---\ntitle: A long title\n---\nText."

    assert found(text, 1) == [("Text.", 4, 4)]
    assert ("title: A long title", 11, 11) in found(text, 10)


def test_markup_is_removed():
    text = 'See [the manual](https://a.b/c) at https://a.b {{< tip text="x" >}} <b>now</b>.'

    (only,) = find_prose_sentences(text, 1)
    assert only.text.split() == ["See", "the", "manual", "at", "now", "."]


def test_nothing_has_no_sentence():
    assert list(find_prose_sentences("", 1)) == []
    assert Sentence("a", 1, 1) == Sentence("a", 1, 1)
