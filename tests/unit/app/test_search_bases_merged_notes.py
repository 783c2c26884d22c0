import pytest

from kebab.app.ask import ask, show_session
from kebab.app.facade import Kebab
from kebab.app.published import add_source
from kebab.config.settings import find_copy_folder
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import InvalidInput, IoError
from kebab.platform import delete_path
from kebab.wire.ask import AskRequest, SessionShowRequest, SessionTranscript
from kebab.wire.fetch import GrepRequest
from kebab.wire.published import SourceAddRequest
from tests.fakes.ollama import Say, fake_ollama

BREAD = "# Bread\n\nThe sourdough rests for twelve hours in the cellar before it is baked.\n"
KEYS = "# Keys\n\nThe signing keys are rotated every ninety days by the platform team.\n"
LEAVE = "# Leave\n\nParental leave lasts for sixteen weeks and is paid in full.\n"
HOURS = "How long does the sourdough rest in the cellar?"
ROTATION = "How often are the signing keys rotated?"


@pytest.fixture
def three(desk, publish_notes):
    """Own notes on bread, and published ones on keys and on leave."""
    desk.write("bread.md", BREAD)
    desk.ingest()
    for name, notes in (("docs", {"ops/keys.md": KEYS}), ("wiki", {"leave.md": LEAVE})):
        url = str(publish_notes(name, notes))
        add_source(desk.context(), SourceAddRequest(url=url), ignore_progress)
    return desk


def _ask(desk, question, context=None, **fields):
    fields = {"extractive": context is None, **fields}
    request = AskRequest(question=question, **fields)
    return ask(context or desk.context(), request, lambda _: None)


def _lose(desk, name):
    folder = desk.folder / "published" / name
    delete_path(find_copy_folder(f"file://{folder}"))
    delete_path(folder)


def test_a_model_answers_from_all_bases(three):
    question = "How often are the signing keys rotated, and how long is parental leave?"
    text = "The keys are rotated every ninety days [1]. Parental leave lasts for sixteen weeks [2]."
    with fake_ollama("tiny:latest") as server:
        llm = {"models__llm__model": "tiny", "models__llm__endpoint": server.url}
        retrieved = []
        request = AskRequest(question=question, session="s")
        probe = AskRequest(question=question, extractive=True)
        ask(three.context(), probe, lambda event: retrieved.append(event.hits))
        order = [hit.base or "local" for hit in retrieved[0] or []]
        markers = {name: order.index(name) + 1 for name in order}
        text = text.replace("[1]", f"[{markers['docs']}]").replace("[2]", f"[{markers['wiki']}]")
        server.enqueue(Say(text))
        answer = ask(three.context(**llm), request, lambda _: None)

    assert answer.grounded
    assert {one.citation.uri for one in answer.citations} == {
        "docs:ops/keys.md#L3",
        "wiki:leave.md#L3",
    }
    kept = show_session(three.context(), SessionShowRequest(name="s"))
    assert isinstance(kept, SessionTranscript)
    assert [turn.question for turn in kept.turns] == [question]


def test_the_facade_lets_a_question_read_several_bases(three):
    settings = three.context().settings
    with Kebab(settings, config_path=three.config) as kebab:
        request = AskRequest(question=ROTATION, extractive=True, base=["docs", "wiki"])
        coverage = kebab.run(request).coverage
        assert coverage is not None
        assert coverage.bases == ["docs", "wiki"]
        with pytest.raises(InvalidInput, match="several"):
            kebab.run(GrepRequest(pattern="keys", base=["docs", "wiki"]))


def test_a_word_of_any_base_is_not_absent(three, publish_notes):
    answer = _ask(three, "Does Zanzibar have signing keys?")
    assert answer.absent_terms == ["Zanzibar"]
    assert answer.answers_question == "uncertain"

    url = str(publish_notes("wiki", {"z.md": "# Z\n\nZanzibar is an island.\n"}))
    add_source(three.context(), SourceAddRequest(url=url), ignore_progress)
    assert _ask(three, "Does Zanzibar have signing keys?").absent_terms == []


def test_nothing_is_called_absent_when_a_base_cannot_be_read(three):
    _lose(three, "docs")
    answer = _ask(three, "Does Zanzibar have parental leave?")

    assert answer.answers_question == "uncertain"
    assert "not in the files that are read: Zanzibar" in answer.warnings[0].message
    assert "`docs` could not be read" in answer.warnings[0].message
    assert (answer.coverage.complete, answer.coverage.unread_bases) == (False, ["docs"])
    assert any(one.reason.startswith("docs: ") for one in answer.retrieval.degraded)
    assert _ask(three, HOURS).grounded
    with pytest.raises(IoError):
        _ask(three, HOURS, base=["docs"])


def test_an_unmatched_filter_is_that_of_all_bases(three):
    answer = _ask(three, ROTATION, tag=["nothing"])
    assert [one.value for one in answer.retrieval.unmatched_filters] == ["nothing"]
    _lose(three, "wiki")
    assert _ask(three, ROTATION, tag=["nothing"]).retrieval.unmatched_filters == []
