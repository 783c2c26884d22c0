"""`kebab chat` answers one question after another, and continues after errors."""

from __future__ import annotations

import re
import time
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from kebab.cli.command import declare_command
from kebab.cli.commands.ask import (
    answer_question,
    ask_options,
    build_ask_request,
    choose_answer_display,
    print_answer,
)
from kebab.cli.errors import run_reporting_errors
from kebab.cli.prompt import Prompt, find_terminal
from kebab.cli.render.answer import render_sources
from kebab.cli.render.canvas import clean, render_fields
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.signal import Exit
from kebab.wire.ask import Answer, SessionShowRequest
from kebab.wire.record import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.app.facade import Kebab
    from kebab.cli.context import CommandContext
    from kebab.wire.search import DegradedChannel

_LEAVE_WORDS = ("exit", "quit", "/exit", "/quit")
_COMMAND = re.compile(r"/[a-z]+")
_HELP = (
    ("/sources", "show the citations of the last answer"),
    ("/new", "start a new session"),
    ("/help", "show this list"),
    ("Ctrl-C", "stop an answer, or clear the line; on an empty line twice: leave"),
    ("Up", "bring back the line before, also one that was cleared or stopped"),
    ("Ctrl-D", "leave, like `exit` and `quit`"),
)


class Chat:
    """Runs a chat with one knowledge base; messages about the chat go to stderr."""

    def __init__(
        self, context: CommandContext, kebab: Kebab, settings: Settings, flags: dict[str, Any]
    ) -> None:
        self._context = context
        self._kebab = kebab
        self._settings = settings
        self._flags = flags
        self.stores = settings.ask.history and not context.flags.read_only
        """Whether questions and answers are stored."""
        self._name: str | None = None
        self._last: Answer | None = None
        self._degraded: list[DegradedChannel] = []
        self._canvas = context.create_canvas(context.channels.err)
        self._commands: dict[str, Callable[[], None]] = {
            "/sources": self._print_sources,
            "/new": self._start_session,
            "/help": lambda: self._print(*render_fields(_HELP, self._canvas)),
        }
        self._start_session(flags["session"])

    def run(self, prompt: Callable[[], str]) -> Exit:
        """Answer questions until the person leaves; return the exit status."""
        self._print(self._canvas.dim("/help lists commands, Ctrl-D leaves"))
        interrupts = self._context.interrupts
        warned = False
        while not interrupts.terminated:
            interrupts.reset()
            try:
                line = prompt()
            except EOFError:
                break
            except KeyboardInterrupt:
                if warned or interrupts.terminated:
                    break
                warned = True
                self._print(self._canvas.dim("Ctrl-C again or Ctrl-D leaves"))
                continue
            warned = False
            if line in _LEAVE_WORDS:
                break
            status = Exit.DONE
            if _COMMAND.fullmatch(line):
                unknown = partial(self._print, "no such command; /help lists the commands")
                self._commands.get(line, unknown)()
            elif line:
                self._context.error_reported = False
                interrupts.reset()
                status = Exit(run_reporting_errors(self._context, partial(self._answer, line)))
            if status == Exit.READER_GONE or interrupts.repeated:
                return status
            self._print(*[""] * bool(line))
        return Exit.INTERRUPTED if interrupts.terminated else Exit.DONE

    def _answer(self, question: str) -> Exit:
        flags = {**self._flags, "session": self._name}
        request = build_ask_request(self._settings, question, flags)
        display = choose_answer_display(self._context, self._settings, request)
        try:
            reply = answer_question(self._context, self._kebab, request, display)
        except KeyboardInterrupt:
            if self._context.interrupts.terminated:
                raise
            self._print(*self._canvas.note("interrupted"))
            return Exit.INTERRUPTED
        self._last = reply
        # An earlier answer reported the other channels.
        new = [channel for channel in reply.retrieval.degraded if channel not in self._degraded]
        self._degraded += new
        reply = replace(reply, retrieval=replace(reply.retrieval, degraded=new))
        return print_answer(self._context, reply)

    def _print_sources(self) -> None:
        if self._last is None or not self._last.citations:
            self._print("no citations yet")
            return
        lines = render_sources(self._last, self._context.create_canvas())
        self._context.channels.out.write_lines(lines)

    def _start_session(self, name: str | None = None) -> None:
        self._name, self._last = name or self._find_new_name(), None
        shown = clean(self._name) if self._name else "none, each question stands alone"
        self._print(self._canvas.dim(f"session: {shown}"))

    def _find_new_name(self) -> str | None:
        """Return an unused session name, None when nothing is stored."""
        if not self.stores:
            return None
        name = stem = time.strftime("chat-%Y-%m-%d-%H%M")
        numbers = count(2)
        while not isinstance(self._kebab.run(SessionShowRequest(name=name)), NotFound):
            name = f"{stem}-{next(numbers)}"
        return name

    def _print(self, *lines: str) -> None:
        self._context.channels.err.write_lines(lines)


class ChatNeedsPersonError(click.UsageError):
    """A program asks for a chat; `hint` is the command for programs."""

    hint = "kebab ask --session NAME QUESTION"


@declare_command(
    "chat",
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=("kebab chat", "kebab chat --session move --tag home"),
)
@ask_options
def command(context: CommandContext, /, **flags: Any) -> Exit:
    """Ask one question after another.

    Follow-up questions may refer to earlier ones. Ctrl-C stops an answer and keeps its beginning in
    the session, or clears the line; Up brings a line back. Ctrl-D leaves, and `/help` lists more.
    Without `--session`, the chat starts a new session.
    """
    terminal = find_terminal(context.channels)
    if context.flags.machine or terminal is None:
        raise ChatNeedsPersonError("a chat is for people at a terminal")
    settings = context.load_settings()
    with context.open_kebab(settings) as kebab:
        chat = Chat(context, kebab, settings, flags)
        history = resolve_paths(settings).state / "chat_history" if chat.stores else None
        return chat.run(Prompt(terminal, context.flags.color, history))
