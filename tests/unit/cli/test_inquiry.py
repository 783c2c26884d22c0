from typing import Any

import pytest

from kebab.cli.channels import Channel, Channels
from kebab.cli.inquiry import answered, display_of, inquiry, show, status_of
from kebab.cli.interrupt import Interrupts
from kebab.cli.render.live import Line
from kebab.cli.session import Session
from kebab.cli.telling import Events
from kebab.config.model import Ask, Llm, Models, Search, Settings
from kebab.errors.catalog import InvalidInput
from kebab.wire.ask import AnswerEvent
from tests.fakes import replies
from tests.fakes.facade import FakeKebab


@pytest.fixture
def channels(tmp_path):
    """Two files, and what was written to them."""
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        yield Channels(Channel(out.fileno(), "<stdout>"), Channel(err.fileno(), "<stderr>"))


@pytest.fixture
def session(channels):
    return Session(channels, Interrupts(lambda: None))


def test_settings_say_what_flags_do_not():
    settings = Settings(ask=Ask(limit=3), search=Search(mode="lexical"))

    made = inquiry(settings, "why", {"session": None, "extractive": False, "tag": ("a",)})
    assert (made.question, made.limit, made.mode, made.tag) == ("why", 3, "lexical", ["a"])
    assert inquiry(settings, "why", {"limit": 9, "mode": "vector"}).limit == 9
    with pytest.raises(InvalidInput, match=r"\$\.limit"):
        inquiry(settings, "why", {"limit": 101})


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (replies.answer(), 0),
        (replies.refusal("score_gate"), 1),
        (replies.refusal("unsupported_claims"), 1),
        (replies.refusal("llm_stream_aborted"), 130),
    ],
)
def test_an_answer_a_refusal_and_an_interruption_have_their_status(reply, status):
    assert status_of(reply) == status


@pytest.mark.parametrize(("machine", "form"), [(True, Events), (False, Line)])
def test_a_machine_gets_events_and_a_log_gets_a_line(session, machine, form):
    session.flags.machine = machine
    settings = Settings()

    assert isinstance(display_of(session, settings, inquiry(settings, "x", {})), form)


@pytest.mark.parametrize(
    ("flags", "provider", "said"),
    [
        ({}, "ollama", "gemma3:4b is writing"),
        ({"model": "big"}, "ollama", "big is writing"),
        ({"extractive": True}, "ollama", "writing"),
        ({}, "extractive", "writing"),
    ],
)
def test_the_model_that_is_waited_for_is_named(session, tmp_path, flags, provider, said):
    settings = Settings(models=Models(llm=Llm(provider=provider)))
    display = display_of(session, settings, inquiry(settings, "x", flags))
    display(AnswerEvent(type="token", delta="a"))

    display.beat(0)

    assert (tmp_path / "err").read_text().removesuffix("\n").partition("  ")[0] == said


def test_an_answer_goes_through_the_display(session, tmp_path):
    settings = Settings()
    request = inquiry(settings, "x", {})
    display = display_of(session, settings, request)
    kebab: Any = FakeKebab(settings, config_path=tmp_path)

    reply = answered(session, kebab, request, display)

    assert reply.grounded


def test_without_a_person_notes_go_to_stderr(session, tmp_path):
    status = show(session, replies.answer("so [1].", warnings=[replies.answer_warning("odd")]))

    assert status == 0
    assert (tmp_path / "out").read_text().startswith("so [1].\n\n [1] ")
    assert (tmp_path / "err").read_text() == "note: odd\n"


def test_a_machine_gets_one_object(session, tmp_path):
    session.flags.machine = True

    show(session, replies.answer(warnings=[replies.answer_warning("odd")]))

    assert (tmp_path / "out").read_text().count("\n") == 1
    assert (tmp_path / "err").read_text() == ""
