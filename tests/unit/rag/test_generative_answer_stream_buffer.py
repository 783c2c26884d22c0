import pytest

from kebab.rag.generative_answer import StreamBuffer
from kebab.rag.prompt import NOT_IN_NOTES


def append_all(*pieces):
    seen: list[str] = []
    buffer = StreamBuffer(seen.append)
    for piece in pieces:
        buffer.append(piece)
    return seen, buffer.text


def test_pieces_of_an_answer_are_passed_on_at_once():
    assert append_all("Backups", " run", " nightly") == (
        ["Backups", " run", " nightly"],
        "Backups run nightly",
    )


@pytest.mark.parametrize(
    "pieces",
    [(NOT_IN_NOTES,), tuple(NOT_IN_NOTES), ("**", NOT_IN_NOTES, "**."), ("Not", " in", " notes")],
)
def test_not_in_notes_is_never_shown(pieces):
    seen, text = append_all(*pieces)

    assert seen == []
    assert text


def test_text_that_begins_like_not_in_notes_is_shown_once_it_differs():
    seen, _ = append_all("NOT", "_IN", "GRESS means entry")

    assert "".join(seen) == "NOT_INGRESS means entry"
    assert len(seen) == 1


def test_white_space_at_the_beginning_waits_for_the_first_word():
    seen, _ = append_all("\n", " ", "Yes", ".")

    assert seen == ["\n Yes", "."]


def test_text_after_not_in_notes_is_buffered_too():
    seen, text = append_all(NOT_IN_NOTES, ", for nothing", " is said of it")

    assert (seen, text) == ([], f"{NOT_IN_NOTES}, for nothing is said of it")


def test_the_buffer_is_open_once_it_shows_text():
    buffer = StreamBuffer(lambda _: None)
    buffer.append("NOT")
    assert not buffer.is_open

    buffer.append("hing")
    assert buffer.is_open


def test_after_a_reset_the_buffer_holds_text_again():
    seen: list[str] = []
    buffer = StreamBuffer(seen.append)
    buffer.append("Backups")
    buffer.reset()
    buffer.append(NOT_IN_NOTES)

    assert seen == ["Backups"]
    assert buffer.text == NOT_IN_NOTES
