"""Questions that follow each other: each is answered or its fault shown, and it goes on."""

from __future__ import annotations

import re
import time
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from kebab.cli.boundary import guarded
from kebab.cli.inquiry import answered, display_of, inquiry, show
from kebab.cli.render.answer import sources
from kebab.cli.render.clean import clean
from kebab.cli.render.page import page
from kebab.cli.render.sheet import labelled
from kebab.errors.signal import Exit
from kebab.wire.library import NotFound
from kebab.wire.session import SessionShowRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kebab.app.facade import Kebab
    from kebab.cli.session import Session
    from kebab.config.model import Settings
    from kebab.wire.ask import Answer
    from kebab.wire.search import DegradedChannel

_LEAVING = ("exit", "quit", "/exit", "/quit")
_COMMAND = re.compile(r"/[a-z]+")
_HELP = (
    ("/sources", "the citations of the last answer again"),
    ("/new", "begin a new session"),
    ("/help", "this list"),
    ("Ctrl-C", "stop an answer, or take a line back"),
    ("Ctrl-D", "leave; so do `exit` and `quit`"),
)
_ENDING = (Exit.INTERRUPTED, Exit.READER_GONE)


class Conversation:
    """A chat over one knowledge base; what it says of itself goes to stderr."""

    def __init__(
        self, session: Session, kebab: Kebab, settings: Settings, flags: dict[str, Any]
    ) -> None:
        self._session = session
        self._kebab = kebab
        self._settings = settings
        self._flags = flags
        self._name: str | None = flags["session"] or self._fresh()
        self._last: Answer | None = None
        self._missing: list[DegradedChannel] = []
        self._sheet = page(session.channels.err, session.flags.color)
        self._commands: dict[str, Callable[[], None]] = {
            "/sources": self._sources,
            "/new": self._renew,
            "/help": self._help,
        }
        self._say_session()

    def with_person(self, prompt: Callable[[], str]) -> Exit:
        """Ask for questions until the person leaves; return the exit status."""
        self._say(self._sheet.faint("/help lists commands, Ctrl-D leaves"))
        interrupts = self._session.interrupts
        warned = False
        while not interrupts.terminated:
            interrupts.renew()
            try:
                line = prompt()
            except EOFError:
                break
            except KeyboardInterrupt:
                if warned or interrupts.terminated:
                    break
                warned = True
                self._say(self._sheet.faint("Ctrl-C again or Ctrl-D leaves"))
                continue
            warned = False
            if line in _LEAVING:
                break
            status = self._take(line)
            if status == Exit.READER_GONE or interrupts.insisted:
                return status
            self._say(*[""] * bool(line))
        return Exit.INTERRUPTED if interrupts.terminated else Exit.DONE

    def through(self, lines: Iterable[str]) -> Exit:
        """Answer line by line; return the worst exit status."""
        worst = Exit.DONE
        for line in lines:
            if line in _LEAVING:
                break
            if not _COMMAND.fullmatch(line):
                self._session.channels.out.write(f"> {clean(line)}\n\n")
            status = self._take(line)
            self._session.channels.out.write("\n")
            worst = max(worst, status)
            if status in _ENDING:
                break
        return worst

    def _take(self, line: str) -> Exit:
        if _COMMAND.fullmatch(line):
            self._commands.get(line, self._unknown)()
        elif line:
            self._session.reported = False
            self._session.interrupts.renew()
            return Exit(guarded(self._session, lambda: self._answer(line)))
        return Exit.DONE

    def _answer(self, question: str) -> Exit:
        flags = {**self._flags, "session": self._name}
        request = inquiry(self._settings, question, flags)
        display = display_of(self._session, self._settings, request)
        try:
            reply = answered(self._session, self._kebab, request, display)
        except KeyboardInterrupt:
            if self._session.interrupts.terminated:
                raise
            self._say(f"{self._sheet.odd('note:')} interrupted")
            return Exit.INTERRUPTED
        self._last = reply
        return show(self._session, self._once(reply))

    def _once(self, reply: Answer) -> Answer:
        """Return an answer that names a missing channel only if no one before it did."""
        from msgspec.structs import replace

        news = [one for one in reply.retrieval.degraded if one not in self._missing]
        self._missing += news
        return replace(reply, retrieval=replace(reply.retrieval, degraded=news))

    def _sources(self) -> None:
        if self._last is None or not self._last.citations:
            self._say("no citations yet")
            return
        lines = sources(self._last, self._session.page())
        self._session.channels.out.write("".join(f"{line}\n" for line in lines))

    def _renew(self) -> None:
        self._name, self._last = self._fresh(), None
        self._say_session()

    def _help(self) -> None:
        self._say(*labelled(_HELP, self._sheet))

    def _unknown(self) -> None:
        self._say("no such command; /help lists them")

    def _fresh(self) -> str | None:
        """Return a name that no session has, None where nothing is remembered."""
        if not self._settings.ask.history or self._session.flags.read_only:
            return None
        stem = time.strftime("chat-%Y-%m-%d-%H%M")
        names = chain([stem], (f"{stem}-{number}" for number in count(2)))
        return next(
            name
            for name in names
            if isinstance(self._kebab.session_show(SessionShowRequest(name=name)), NotFound)
        )

    def _say_session(self) -> None:
        name = clean(self._name) if self._name else "none, each question stands alone"
        self._say(self._sheet.faint(f"session: {name}"))

    def _say(self, *lines: str) -> None:
        self._session.channels.err.write("".join(f"{line}\n" for line in lines))
