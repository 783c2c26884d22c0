import pytest

from kebab.rag.generative_answer import StreamBuffer
from kebab.rag.prompt import NOT_IN_NOTES


def shown(*pieces):
    seen: list[str] = []
    hold = StreamBuffer(seen.append)
    for piece in pieces:
        hold.append(piece)
    return seen, hold.text


def test_pieces_of_an_answer_pass_as_they_come():
    assert shown("Backups", " run", " nightly") == (
        ["Backups", " run", " nightly"],
        "Backups run nightly",
    )


@pytest.mark.parametrize(
    "pieces",
    [(NOT_IN_NOTES,), tuple(NOT_IN_NOTES), ("**", NOT_IN_NOTES, "**."), ("Not", " in", " notes")],
)
def test_the_agreed_word_is_never_shown(pieces):
    seen, text = shown(*pieces)

    assert seen == []
    assert text


def test_what_begins_like_the_agreed_word_is_shown_once_it_differs():
    seen, _ = shown("NOT", "_IN", "GRESS means entry")

    assert "".join(seen) == "NOT_INGRESS means entry"
    assert len(seen) == 1


def test_white_space_at_the_beginning_waits_for_the_first_word():
    seen, _ = shown("\n", " ", "Yes", ".")

    assert seen == ["\n Yes", "."]


def test_what_follows_the_agreed_word_is_held_back_too():
    seen, text = shown(NOT_IN_NOTES, ", for nothing", " is said of it")

    assert (seen, text) == ([], f"{NOT_IN_NOTES}, for nothing is said of it")


def test_it_is_known_whether_anything_was_shown():
    hold = StreamBuffer(lambda _: None)
    hold.append("NOT")
    assert not hold.is_open

    hold.append("hing")
    assert hold.is_open


def test_after_a_restart_the_next_words_are_held_back_again():
    seen: list[str] = []
    hold = StreamBuffer(seen.append)
    hold.append("Backups")
    hold.reset()
    hold.append(NOT_IN_NOTES)

    assert seen == ["Backups"]
    assert hold.text == NOT_IN_NOTES
