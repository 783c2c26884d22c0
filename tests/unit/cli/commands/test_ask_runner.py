import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.commands.ask import build_ask_request, choose_answer_display
from kebab.cli.context import CommandContext, Interrupts
from kebab.config.settings import Llm, Models, Settings
from kebab.wire.ask import AnswerEvent


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

    display.show_heartbeat(2000)

    assert (tmp_path / "err").read_text().removesuffix("\n").partition("  ")[0] == said
