"""`kebab chat` answers one question after another, and continues after errors."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from kebab.cli.command import declare_command
from kebab.cli.commands.ask import (
    ask_options,
    build_ask_request,
    choose_answer_display,
    print_answer,
)
from kebab.cli.errors import run_reporting_errors
from kebab.cli.hints import UsageHintError
from kebab.cli.progress import report_events
from kebab.cli.prompt import find_terminal, open_prompt
from kebab.cli.render.canvas import clean
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.app.facade import Kebab
    from kebab.cli.context import CommandContext

_LEAVE_WORDS = ("exit", "quit", "/exit", "/quit")


class Chat:
    """Runs a chat with one knowledge base; messages about the chat go to stderr."""

    def __init__(
        self, context: CommandContext, kebab: Kebab, settings: Settings, flags: dict[str, Any]
    ) -> None:
        self._context = context
        self._kebab = kebab
        self._settings = settings
        self.stores = settings.ask.history and not context.flags.read_only
        """Whether questions and answers are stored."""
        new = time.strftime("chat-%Y-%m-%d-%H%M%S") if self.stores else None
        name = flags["session"] or new
        self._flags = {**flags, "session": name}
        self._canvas = context.create_canvas(context.channels.err)
        shown = clean(name) if name else "none, each question stands alone"
        self._print(self._canvas.dim(f"session: {shown}"))

    def run(self, prompt: Callable[[], str]) -> Exit:
        """Answer questions until the person leaves; return the exit status."""
        self._print(self._canvas.dim("Ctrl-C stops an answer, Ctrl-D leaves"))
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
            if line:
                self._context.error_reported = False
                interrupts.reset()
                status = Exit(run_reporting_errors(self._context, partial(self._answer, line)))
                if status == Exit.READER_GONE or interrupts.repeated:
                    return status
                self._print("")
        return Exit.INTERRUPTED if interrupts.terminated else Exit.DONE

    def _answer(self, question: str) -> Exit:
        request = build_ask_request(self._settings, question, self._flags)
        display = choose_answer_display(self._context, self._settings, request)
        try:
            with report_events(self._context, display, self._context.channels.out) as reporter:
                reply = self._kebab.run(request, report=reporter)
        except KeyboardInterrupt:
            if self._context.interrupts.terminated:
                raise
            self._print(*self._canvas.note("interrupted"))
            return Exit.INTERRUPTED
        return print_answer(self._context, reply)

    def _print(self, *lines: str) -> None:
        self._context.channels.err.write_lines(lines)


@declare_command("chat", examples=("kebab chat", "kebab chat --session move --tag home"))
@ask_options
def command(context: CommandContext, /, **flags: Any) -> Exit:
    """Ask one question after another.

    Follow-up questions may refer to earlier ones. Ctrl-C stops an answer and keeps its beginning in
    the session, or clears the line; Up brings a line back. Ctrl-D leaves. Without
    `--session`, the chat starts a new session.
    """
    terminal = find_terminal(context.channels)
    if context.flags.machine or terminal is None:
        call = "kebab ask --session NAME QUESTION"
        raise UsageHintError("a chat is for people at a terminal", call)
    settings = context.load_settings()
    with context.open_kebab(settings) as kebab:
        chat = Chat(context, kebab, settings, flags)
        history = resolve_paths(settings).state / "chat_history" if chat.stores else None
        return chat.run(open_prompt(terminal, context.flags.color, history))
