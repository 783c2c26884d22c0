import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.generative_answer import RepeatedTextError, RepetitionGuard, find_repetition

SENTENCE = (
    "Click completes words for Bash, and it is possible to add support for other shells [1].\n\n"
)
ROW = '    "prompt_type_name": "password",\n'


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("la femme au roi, " * 20, None),
        (f"x = {{\n{ROW * 9}", None),
        (f"Intro. {SENTENCE * 3}", f"Intro. {SENTENCE}"),
        (f"Intro.\n{'a b ' * 90}{SENTENCE * 3}", f"Intro.\n{'a b ' * 90}{SENTENCE}"),
        (f"Intro. {SENTENCE * 5}Click comp", None),
    ],
)
def test_several_equal_parts_at_the_end_are_a_repetition(text, kept):
    end = find_repetition(text)

    assert end is not None
    assert end < len(text)
    assert kept is None or text[:end] == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no, no, no",
        f"Intro. {SENTENCE * 2}",
        SENTENCE * 4 + "Then something else follows, and the answer goes on.",
        "| a | b |\n|---|---|\n"
        + "".join(f"| {n} | the same text in each row |\n" for n in range(30)),
        "-" * 1000,
        "-- -- " * 200,
        " ".join(map(str, range(400))),
    ],
)
def test_other_texts_are_no_repetition(text):
    assert find_repetition(text) is None


@given(st.text(max_size=30), st.text(alphabet="abc \n.", min_size=1, max_size=60))
def test_what_is_cut_off_is_a_copy_of_what_stays(before, part):
    text = before + part * (300 // len(part) + 3)
    end = find_repetition(text)

    assert end is None or text[:end].endswith(text[end:][: len(part)])


def test_a_guard_passes_on_every_piece_until_the_text_repeats_itself():
    heard: list[str] = []
    guard = RepetitionGuard(heard.append)

    guard.append(SENTENCE)
    guard.append(SENTENCE)
    with pytest.raises(RepeatedTextError):
        guard.append(SENTENCE)

    completion = guard.build_completion(77)
    assert heard == [SENTENCE] * 3
    assert (completion.text, completion.finish, completion.prompt_tokens) == (
        SENTENCE,
        "length",
        77,
    )
    assert completion.completion_tokens > 30
    assert completion.first_token_ms is not None
