import re
from contextlib import suppress

import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.commands.chat import Chat
from kebab.cli.context import CommandContext, Interrupts
from kebab.config.settings import Ask, Settings
from tests.fakes import replies
from tests.fakes.facade import FakeKebab

NAME = re.compile(r"chat-\d{4}-\d\d-\d\d-\d{6}")


class Talk:
    """A conversation over a scripted knowledge base, and what it wrote."""

    def __init__(self, folder, settings, kebab, name=None):
        self.folder = folder
        self.context = CommandContext(self.channels(), Interrupts(lambda: None))
        self.kebab = kebab
        self.settings = settings
        self.name = name

    def channels(self):
        opened = [(self.folder / name).open("wb") for name in ("out", "err")]
        self.files = opened
        return OutputChannels(*(OutputChannel(one.fileno(), one.name) for one in opened))

    def start(self):
        return Chat(self.context, self.kebab, self.settings, {"session": self.name})

    @property
    def out(self):
        return (self.folder / "out").read_text()

    @property
    def err(self):
        return (self.folder / "err").read_text()

    @property
    def asked(self):
        return [(one.question, one.session) for what, one in self.kebab.asked if what == "ask"]


@pytest.fixture
def talking(tmp_path):
    made = []

    def talk(kind=FakeKebab, name=None, **ask):
        settings = Settings(ask=Ask(**ask))
        made.append(Talk(tmp_path, settings, kind(settings, config_path=tmp_path), name))
        return made[-1]

    yield talk
    for one in made:
        for file in one.files:
            file.close()


def typing(*lines):
    """Return a prompt at which these lines are typed; an exception is what happens instead."""
    left = list(lines)

    def prompt():
        line = left.pop(0) if left else EOFError()
        if isinstance(line, BaseException):
            raise line
        return line

    return prompt


def test_a_new_session_gets_a_name_that_is_shown(talking):
    talk = talking()
    talk.start().run(typing("one", "two"))

    (name,) = NAME.findall(talk.err)
    assert talk.asked == [("one", name), ("two", name)]


def test_each_error_is_shown_and_the_chat_continues(talking):
    talk = talking()
    talk.start().run(typing("cut", "cut", "one"))

    assert talk.err.count("code: model_unreachable") == 2
    assert len(talk.asked) == 3


@pytest.mark.parametrize("last", ["exit", "/exit", EOFError()])
def test_an_interactive_chat_ends_with_exit_status_0(talking, last):
    talk = talking()

    assert talk.start().run(typing("cut", "", "weak", last, "never")) == 0
    assert [question for question, _ in talk.asked] == ["cut", "weak"]


def test_a_second_ctrl_c_at_the_prompt_leaves(talking):
    talk = talking()
    again = KeyboardInterrupt()

    status = talk.start().run(typing(again, "one", again, again, "never"))

    assert (status, len(talk.asked)) == (0, 1)
    assert talk.err.count("Ctrl-C again or Ctrl-D leaves") == 2


class Interrupted(FakeKebab):
    """Is interrupted before the first word of each answer."""

    times = 1
    interrupts: Interrupts

    def ask(self, request, report):
        self._note("ask", request)
        for _ in range(self.times - 1):
            with suppress(KeyboardInterrupt):
                self.interrupts.interrupt()
        self.interrupts.interrupt()
        return replies.answer()


def test_a_repeated_interruption_leaves(talking):
    talk = talking(Interrupted)
    talk.kebab.interrupts, talk.kebab.times = talk.context.interrupts, 2

    assert talk.start().run(typing("one", "two")) == 130
    assert len(talk.asked) == 1


def test_sigterm_ends_the_chat(talking):
    talk = talking(Interrupted)
    talk.kebab.interrupts = talk.context.interrupts
    talk.context.interrupts.terminated = True

    assert talk.start().run(typing("one")) == 130
