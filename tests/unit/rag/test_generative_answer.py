import pytest

from kebab.core.answers import AnswerMode, Completion, Refusal
from kebab.errors.catalog import ContextOverflow, ModelUnreachable
from kebab.rag.generative_answer import ModelWriter
from kebab.rag.prompt import NOT_IN_NOTES
from tests.fakes.evidence import hit, page, stored
from tests.fakes.language_model import Pieces, ScriptedModel

QUESTION = "When does the backup of the documents run?"
NOTE = "The backup of all documents runs every night at two o'clock with restic."
TRUE = "The backup of all documents runs every night at two o'clock [1]."
FALSE = "The backup of all photos runs on 31 December 1999 on the Moonbase [1]."
OVERFLOW = ContextOverflow(prompt_tokens=9000, context_tokens=8192)
GONE = ModelUnreachable(endpoint="http://127.0.0.1:11434", operation="ask", cause="cut")


class RecordingListener:
    def __init__(self):
        self.tokens = []
        self.restarts = []

    def on_retrieved(self, found):
        """Take no notice."""

    def on_token(self, text):
        self.tokens.append(text)

    def on_restart(self, reason):
        self.restarts.append(reason)


def notes(count=1):
    return page(*(hit(stored(f"{NOTE} Note {n}.", key=n), rank=n) for n in range(1, count + 1)))


def write_answer(model, found=None, **options):
    listener = RecordingListener()
    writer = ModelWriter(model=model, **{"answer_tokens": 500, **options})
    return writer.write(QUESTION, found or notes(), [], listener), listener


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
    assert ModelWriter(model=model, answer_tokens=1).mode is AnswerMode.GENERATIVE


def test_the_prompt_has_question_passages_and_answer_length():
    model = ScriptedModel(TRUE)

    write_answer(model, answer_tokens=321)

    (prompt,) = model.told
    assert QUESTION in prompt.text
    assert NOTE in prompt.text
    assert prompt.max_tokens == 321


@pytest.mark.parametrize("said", [NOT_IN_NOTES, f"**{NOT_IN_NOTES}**\n", "", " \n"])
def test_a_declined_answer_is_a_refusal_and_streams_no_token(said):
    draft, listener = write_answer(ScriptedModel(said))

    assert draft.refusal is Refusal.LLM_SELF_JUDGE
    assert "".join(listener.tokens).strip() == ""


def test_an_unsupported_claim_is_marked():
    draft, _ = write_answer(ScriptedModel(f"{TRUE} {FALSE}"))

    assert draft.refusal is None
    assert "[unsupported]" in draft.text
    (warning,) = draft.warnings
    start, end = warning.span
    assert "Moonbase" in draft.text[start:end]


def test_code_is_held_against_the_question_too():
    found = page(hit(stored("Scale the app with `app scale --replicas=10`.")))
    said = "Scale the app [1]:\n\n```sh\napp scale --replicas=4\n```"
    writer = ModelWriter(model=ScriptedModel(said), answer_tokens=500, policy="withhold")

    draft = writer.write("How do I scale the app to 4 replicas?", found, [], RecordingListener())

    assert (draft.text, draft.refusal, draft.warnings) == (said, None, ())


def test_elements_that_the_notes_name_are_shown():
    said = "The element `<passage>` marks a section of a text [1]."
    found = page(hit(stored("The element `<passage>` marks a section of a text.")))

    draft, listener = write_answer(ScriptedModel(said), found)

    assert draft.text == said
    assert "".join(listener.tokens) == said


def test_an_answer_with_an_unsupported_claim_is_withheld_by_policy():
    draft, _ = write_answer(ScriptedModel(f"{TRUE} {FALSE}"), policy="withhold")

    assert (draft.refusal, draft.text, draft.citations) == (
        Refusal.UNSUPPORTED_CLAIMS,
        "",
        (),
    )
    assert [one.span for one in draft.warnings] == [None]


@pytest.mark.parametrize("said", [FALSE, "The Moonbase fell in 1999.", "See [7]."])
@pytest.mark.parametrize("policy", ["mark", "withhold"])
def test_an_answer_without_one_supported_claim_is_refused(said, policy):
    draft, _ = write_answer(ScriptedModel(said), policy=policy)

    assert draft.refusal is Refusal.UNSUPPORTED_CLAIMS
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


def test_a_cut_answer_is_checked():
    draft, _ = write_answer(ScriptedModel(cut(f"{TRUE} {FALSE} It also")))
    refused, _ = write_answer(ScriptedModel(cut(f"{FALSE} It also")))

    assert "[unsupported]" in draft.text
    assert refused.refusal is Refusal.UNSUPPORTED_CLAIMS
    assert refused.usage.truncated
    assert "answer_truncated" in [one.code for one in refused.warnings]


def test_an_answer_that_fills_the_window_names_the_setting_that_leaves_room():
    draft, _ = write_answer(ScriptedModel(cut(TRUE)), answer_tokens=500)

    (warning,) = draft.warnings
    assert warning.message.endswith("a lower `ask.limit` leaves more room: 150")


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
    assert draft.usage.prompt_tokens > 0
    assert draft.warnings[0].message == "the answer is incomplete because the model repeated itself"


@pytest.mark.parametrize("said", ["", f"{NOT_IN_NOTES}: the passages do not"])
def test_a_cut_answer_without_text_is_a_refusal(said):
    draft, listener = write_answer(ScriptedModel(cut(said)))

    assert draft.refusal is Refusal.LLM_SELF_JUDGE
    assert (draft.usage.truncated, listener.restarts) == (True, [])


def test_an_overflow_after_two_downshifts_is_an_error():
    model = ScriptedModel(OVERFLOW, OVERFLOW, OVERFLOW)

    with pytest.raises(ContextOverflow):
        write_answer(model, notes(9))
    assert len(model.told) == 3


def test_an_overflow_of_the_smallest_prompt_is_an_error_at_once():
    model = ScriptedModel(OVERFLOW)

    with pytest.raises(ContextOverflow):
        write_answer(model)
    assert len(model.told) == 1


def test_a_failure_of_the_server_propagates():
    with pytest.raises(ModelUnreachable):
        write_answer(ScriptedModel(Pieces("The backup", then=GONE)))


def test_an_interruption_returns_the_text_so_far():
    draft, _ = write_answer(ScriptedModel(Pieces("The backup", " of", then=KeyboardInterrupt())))

    assert (draft.refusal, draft.text) == (Refusal.LLM_STREAM_ABORTED, "The backup of")


def test_an_interruption_before_the_first_word_propagates():
    with pytest.raises(KeyboardInterrupt):
        write_answer(ScriptedModel(KeyboardInterrupt()))


def test_an_interruption_before_any_shown_text_propagates():
    with pytest.raises(KeyboardInterrupt):
        write_answer(ScriptedModel(Pieces("NOT", "_IN", then=KeyboardInterrupt())))
