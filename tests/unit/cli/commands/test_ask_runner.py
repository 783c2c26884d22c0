from typing import Any

import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.commands.ask import (
    answer_question,
    build_ask_request,
    choose_answer_display,
    print_answer,
)
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.event_lines import EventLines
from kebab.cli.render.answer import AnswerLog
from kebab.config.settings import Ask, Llm, Models, Search, Settings
from kebab.errors.catalog import InvalidInput
from kebab.wire.ask import AnswerEvent
from tests.fakes import replies
from tests.fakes.facade import FakeKebab


@pytest.fixture
def channels(tmp_path):
    """Two files, and what was written to them."""
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        yield OutputChannels(
            OutputChannel(out.fileno(), "<stdout>"), OutputChannel(err.fileno(), "<stderr>")
        )


@pytest.fixture
def context(channels):
    return CommandContext(channels, Interrupts(lambda: None))


def test_settings_fill_in_missing_flags():
    settings = Settings(ask=Ask(limit=3), search=Search(mode="lexical"))

    made = build_ask_request(settings, "why", {"session": None, "extractive": False, "tag": ("a",)})
    assert (made.question, made.limit, made.mode, made.tag) == ("why", 3, "lexical", ["a"])
    assert build_ask_request(settings, "why", {"limit": 9, "mode": "vector"}).limit == 9
    with pytest.raises(InvalidInput, match=r"\$\.limit"):
        build_ask_request(settings, "why", {"limit": 101})


@pytest.mark.parametrize(("machine", "form"), [(True, EventLines), (False, AnswerLog)])
def test_a_machine_gets_events_and_a_log_gets_a_line(context, machine, form):
    context.flags.machine = machine
    settings = Settings()

    assert isinstance(
        choose_answer_display(context, settings, build_ask_request(settings, "x", {})), form
    )


@pytest.mark.parametrize(
    ("flags", "provider", "said"),
    [
        ({}, "ollama", "gemma3:4b is writing"),
        ({"model": "big"}, "ollama", "big is writing"),
        ({"extractive": True}, "ollama", "writing"),
        ({}, "extractive", "writing"),
    ],
)
def test_the_model_that_is_waited_for_is_named(context, tmp_path, flags, provider, said):
    settings = Settings(models=Models(llm=Llm(provider=provider)))
    display = choose_answer_display(context, settings, build_ask_request(settings, "x", flags))
    display(AnswerEvent(type="token", delta="a"))

    display.show_heartbeat(0)

    assert (tmp_path / "err").read_text().removesuffix("\n").partition("  ")[0] == said


def test_an_answer_goes_through_the_display(context, tmp_path):
    settings = Settings()
    request = build_ask_request(settings, "x", {})
    display = choose_answer_display(context, settings, request)
    kebab: Any = FakeKebab(settings, config_path=tmp_path)

    reply = answer_question(context, kebab, request, display)

    assert reply.grounded


def test_without_a_person_notes_go_to_stderr(context, tmp_path):
    status = print_answer(
        context, replies.answer("so [1].", warnings=[replies.answer_warning("odd")])
    )

    assert status == 0
    assert (tmp_path / "out").read_text().startswith("so [1].\n\n [1] ")
    assert (tmp_path / "err").read_text() == "note: odd\n"


def test_a_machine_gets_no_tokens_before_the_answer(context, tmp_path):
    context.flags.machine = True
    settings = Settings()
    display = choose_answer_display(context, settings, build_ask_request(settings, "x", {}))

    assert not display(AnswerEvent(type="token", delta="a"))
    display.show_heartbeat(5.0)

    assert (tmp_path / "out").read_text() == ""
    assert "heartbeat" in (tmp_path / "err").read_text()
