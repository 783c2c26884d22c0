import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.answers import Completion, find_repetition
from kebab.errors.catalog import ContextOverflow
from kebab.rag.generative_answer import ModelWriter, RepeatedTextError, StreamBuffer, cut_unfinished
from kebab.rag.markers import find_fenced_blocks
from kebab.rag.prompt import NOT_IN_NOTES
from tests.fakes.evidence import hit, page, stored
from tests.fakes.language_model import Pieces, ScriptedModel

QUESTION = "When does the backup of the documents run?"
NOTE = "The backup of all documents runs every night at two o'clock with restic."
TRUE = "The backup of all documents runs every night at two o'clock [1]."
FALSE = "The backup of all photos runs on 31 December 1999 on the Moonbase [1]."
OVERFLOW = ContextOverflow(prompt_tokens=9000, context_tokens=8192)


class Heard:
    """What the writer reports: the text as it comes, and why it begins anew."""

    def __init__(self):
        self.tokens = []
        self.restarts = []

    def __call__(self, event):
        if event.type == "token":
            self.tokens.append(event.delta)
        else:
            self.restarts.append(event.reason)


def notes(count=1):
    return page(*(hit(stored(f"{NOTE} Note {n}.", key=n), rank=n) for n in range(1, count + 1)))


def write_answer(model, found=None, **options):
    heard = Heard()
    writer = ModelWriter(model=model, report=heard, **{"answer_tokens": 500, **options})
    return writer.write(QUESTION, found or notes(), []), heard


def cut(text):
    return Completion(text=text, finish="length", prompt_tokens=100, completion_tokens=50)


def test_the_response_of_the_model_is_the_answer_with_its_quotes():
    model = ScriptedModel(TRUE)

    draft, listener = write_answer(model)

    assert (draft.text, draft.refusal, draft.warnings) == (TRUE, None, ())
    (support,) = draft.citations
    assert support.marker == 1
    assert support.quote.text in NOTE + " Note 1."
    assert "".join(listener.tokens) == TRUE
    assert draft.usage.finish_reason == "stop"


def test_an_unsupported_claim_is_marked():
    draft, _ = write_answer(ScriptedModel(f"{TRUE} {FALSE}"))

    assert draft.refusal is None
    assert "[unsupported]" in draft.text
    (warning,) = draft.warnings
    start, end = warning.span
    assert "Moonbase" in draft.text[start:end]


def test_an_answer_with_an_unsupported_claim_is_withheld_by_policy():
    draft, _ = write_answer(ScriptedModel(f"{TRUE} {FALSE}"), policy="withhold")

    assert (draft.refusal, draft.text, draft.citations) == ("unsupported_claims", "", ())
    assert [one.span for one in draft.warnings] == [None]


@pytest.mark.parametrize("said", [FALSE, "The Moonbase fell in 1999.", "See [7]."])
@pytest.mark.parametrize("policy", ["mark", "withhold"])
def test_an_answer_without_one_supported_claim_is_refused(said, policy):
    draft, _ = write_answer(ScriptedModel(said), policy=policy)

    assert draft.refusal == "unsupported_claims"
    assert draft.warnings


def test_after_an_overflow_the_model_is_asked_with_less():
    model = ScriptedModel(OVERFLOW, TRUE)

    draft, listener = write_answer(model, notes(6))

    assert draft.refusal is None
    assert draft.usage.downshifts == 1
    assert not draft.usage.truncated
    assert len(listener.restarts) == 1
    assert draft.used < 6
    assert len(model.told[1].text) < len(model.told[0].text)
    assert model.told[1].max_tokens == model.told[0].max_tokens
    assert [one.code for one in draft.warnings] == ["downshifted"]


def test_the_window_that_a_server_tells_is_used_at_once_and_remembered():
    told = ContextOverflow(prompt_tokens=9000, context_tokens=1500)
    model = ScriptedModel(told, TRUE, TRUE)
    windows: dict[str, int] = {}

    draft, _ = write_answer(model, notes(90), windows=windows)
    again, listener = write_answer(model, notes(90), windows=windows)

    assert (draft.usage.downshifts, again.usage.downshifts, listener.restarts) == (1, 0, [])
    assert windows == {model.name: 1500}
    (warning,) = draft.warnings
    assert warning.message.endswith("smaller than `models.llm.context_tokens`: 1500")
    assert again.warnings == ()
    for prompt in model.told[1:]:
        assert len(prompt.text.encode()) / 5 + prompt.max_tokens <= 1500


def test_a_cut_answer_is_kept_and_the_model_not_asked_again():
    model = ScriptedModel(cut(f"{TRUE} It also"))

    draft, listener = write_answer(model, answer_tokens=50)

    assert draft.text == TRUE
    assert (draft.usage.truncated, draft.usage.downshifts) == (True, 0)
    assert draft.usage.finish_reason == "length"
    assert len(draft.citations) == 1
    assert (listener.restarts, model.unplayed) == ([], 0)
    (warning,) = draft.warnings
    assert warning.code == "answer_truncated"
    assert warning.message.endswith("it reached the limit `models.llm.answer_tokens`: 50")


def test_an_answer_that_takes_half_of_a_small_window_says_so():
    model = ScriptedModel(cut(TRUE), context_tokens=100)

    draft, _ = write_answer(model, answer_tokens=500)

    assert model.told[0].max_tokens == 50
    assert draft.warnings[-1].message.endswith("it reached half of the model's window: 50")


def test_an_answer_that_repeats_itself_is_broken_off_and_kept_once():
    loop = Pieces(
        f"{TRUE} ",
        *[f"It is kept on a tape in the cellar of the house for years {n}. " for n in (1, 2)],
        *["Tapes are bought at the shop on the corner of the street. "] * 900,
    )
    model = ScriptedModel(loop)

    draft, listener = write_answer(model)

    assert draft.text.startswith(TRUE)
    assert draft.text.count("Tapes are bought") == 1
    assert (model.interrupted, draft.usage.truncated, listener.restarts) == (1, True, [])
    assert (draft.usage.finish_reason, draft.usage.prompt_tokens) == (None, None)
    assert draft.warnings[0].message == "the answer is incomplete because the model repeated itself"


def test_an_overflow_after_two_downshifts_is_an_error():
    model = ScriptedModel(OVERFLOW, OVERFLOW, OVERFLOW)

    with pytest.raises(ContextOverflow):
        write_answer(model, notes(9))
    assert len(model.told) == 3


def test_an_interruption_returns_the_text_so_far():
    draft, _ = write_answer(ScriptedModel(Pieces("The backup", " of", then=KeyboardInterrupt())))

    assert (draft.refusal, draft.text) == ("llm_stream_aborted", "The backup of")


def test_an_interruption_before_the_first_word_propagates():
    with pytest.raises(KeyboardInterrupt):
        write_answer(ScriptedModel(KeyboardInterrupt()))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The backup runs every night [1]. It uses", "The backup runs every night [1]."),
        ("It runs. [1]", "It runs. [1]"),
        ("It runs every night [1]", "It runs every night [1]"),
        ("**It runs.** [1][2] And", "**It runs.** [1][2]"),
        ("It runs [1].\n\nIt us", "It runs [1]."),
        ("It runs [1].\n\nIt uses restic\n", "It runs [1].\n\nIt uses restic"),
        ("백업은 매일 밤 [1]. 그리고 사진은", "백업은 매일 밤 [1]."),
        ("它在夜里运行。[1]然后", "它在夜里运行。[1]"),
        ("- one thing [1]\n- two th", "- one thing [1]"),
        ("1. One thing\n2. two th", "1. One thing"),
        ("Done [1].\n\n## Ste", "Done [1]."),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | x", "| a | b |\n|---|---|\n| 1 | 2 |"),
    ],
)
def test_an_unfinished_sentence_item_row_or_heading_is_left_out_with_its_signs(text, kept):
    assert cut_unfinished(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Run:\n\n```bash\nrestic check\nrestic res", "Run:\n\n```bash\nrestic check\n```"),
        ("Run:\n\n~~~\nrestic check\n", "Run:\n\n~~~\nrestic check\n~~~"),
        ("> ```sh\n> restic check\n> rm -rf /", "> ```sh\n> restic check\n> ```"),
        ("Run:\n```\nrestic check\n``", "Run:\n```\nrestic check\n```"),
        ("Run:\n```\nrestic check\n```", "Run:\n```\nrestic check\n```"),
        ("Run:\n```\nrestic check\n```\nThen wa", "Run:\n```\nrestic check\n```"),
    ],
)
def test_an_open_block_is_closed_after_its_last_whole_line(text, kept):
    assert cut_unfinished(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The backup runs ev", "The backup runs …"),
        ("Backup", "Backup …"),
        ("它在夜里运行并且", "它在夜里运行并且 …"),
        ("", ""),
        (" \n", ""),
    ],
)
def test_a_single_sentence_stays_and_is_marked_as_unfinished(text, kept):
    assert cut_unfinished(text) == kept


@given(st.text(alphabet="ab .\n`>-|1[]#~", max_size=80))
def test_no_block_stays_open_and_nothing_is_added_but_its_end(text):
    cut = cut_unfinished(text)

    blocks = find_fenced_blocks(f"{cut}\n.")
    assert not blocks or blocks[-1][1] <= len(cut)
    whole = cut.removesuffix(" …")
    assert text.startswith((whole, whole.rpartition("\n")[0]))


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


def test_pieces_are_passed_on_until_the_text_repeats_itself():
    heard: list[str] = []
    buffer = StreamBuffer(heard.append, heard.clear)

    buffer.append(SENTENCE)
    buffer.append(SENTENCE)
    with pytest.raises(RepeatedTextError):
        buffer.append(SENTENCE)

    assert heard == [SENTENCE] * 3


def append_all(*pieces):
    seen: list[str] = []
    buffer = StreamBuffer(seen.append, seen.clear)
    for piece in pieces:
        buffer.append(piece)
    return seen, buffer.text


@pytest.mark.parametrize(
    "pieces",
    [(NOT_IN_NOTES,), tuple(NOT_IN_NOTES), ("**", NOT_IN_NOTES, "**."), ("Not", " in", " notes")],
)
def test_not_in_notes_is_never_shown(pieces):
    seen, text = append_all(*pieces)

    assert seen == []
    assert text
