"""Lets a person choose a hit: a query line, a list of hits, and a preview of the passage.

It draws on stderr, so that a shell can capture the chosen reference from stdout; where nothing
captures it, the file of the hit is opened.
"""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kebab.cli.prompt import open_devices
from kebab.cli.render.canvas import Canvas, clean, limit_text_width
from kebab.cli.render.hits import format_location, render_hit
from kebab.errors.catalog import InvalidInput
from kebab.errors.signal import Signal
from kebab.search.citations import locate_hit
from kebab.wire.coverage import pluralize

if TYPE_CHECKING:
    from collections.abc import Callable

    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.layout import Layout
    from prompt_toolkit.output import Output

    from kebab.cli.channels import OutputChannel
    from kebab.wire.search import SearchHit, SearchResponse

_PAUSE_S = 0.15
"""How long typing must rest before a search."""

_SCROLLED = 8
"""How many lines a key scrolls."""

_EXAMPLES = (
    "type a question or some words, for example:",
    "",
    "  how do I restore a backup",
    "  snapshot tag:ops",
    '  "an exact phrase" -draft',
)
"""What is shown without hits."""

_KEYS = "Ctrl-Y copy reference · ↑ ↓ choose · PgUp PgDn scroll · Esc leave"


@dataclass(slots=True)
class Selection:
    """The hits of the current query, and which of them is chosen.

    `search` returns the hits of a query with their whole passages; `open_hit` waits for the
    editor. With `opens` the Enter key opens the chosen hit, and the person goes on.
    """

    search: Callable[[str], SearchResponse]
    open_hit: Callable[[SearchHit, str], None] = lambda *_: None
    opens: bool = False
    hits: list[SearchHit] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    index: int = 0
    scroll: int = 0
    note: str = ""

    @property
    def chosen(self) -> SearchHit | None:
        """The chosen hit, None without hits."""
        return self.hits[self.index] if self.hits else None

    def update(self, query: str) -> None:
        """Search, and choose the best hit; a query that cannot be read leaves a note."""
        self.hits, self.index, self.scroll, self.note = [], 0, 0, ""
        if not query.strip():
            return
        try:
            reply = self.search(query)
        except InvalidInput as refused:
            self.note = str(refused)
            return
        self.hits, self.sources = reply.hits, reply.sources
        self.note = pluralize(len(reply.hits), "hit") + ("" if reply.convincing else ", all weak")

    def open(self) -> None:
        """Open the file of the chosen hit; a failure leaves a note."""
        if self.chosen and (file := locate_hit(self.chosen, self.sources)):
            try:
                self.open_hit(self.chosen, file)
            except Signal as failed:
                self.note = str(failed)

    def move(self, step: int) -> None:
        """Choose another hit."""
        self.index = max(0, min(len(self.hits) - 1, self.index + step))
        self.scroll = 0

    def turn(self, lines: int) -> None:
        """Scroll the preview."""
        self.scroll = max(0, self.scroll + lines)

    def draw_list(self, canvas: Canvas) -> list[str]:
        """Return one line for each hit; `>` marks the chosen one. The screen cuts long lines."""
        rows = []
        for number, hit in enumerate(self.hits):
            mark = canvas.strong("> ") if number == self.index else "  "
            place = canvas.location(format_location(hit.citation))
            context = canvas.dim(clean(" > ".join(hit.heading_path[-2:]) or hit.title))
            rows.append(f"{mark}{hit.score:.2f} {hit.confidence:<6}  {place}  {context}")
        return rows

    def draw_preview(self, canvas: Canvas) -> list[str]:
        """Return the passage of the chosen hit, from the scrolled line on."""
        if self.chosen is None:
            return [*_EXAMPLES]
        file = locate_hit(self.chosen, self.sources)
        return [*render_hit(self.chosen, file, canvas, lines=None)][self.scroll :]


def pick_hit(
    selection: Selection,
    query: str,
    channel: OutputChannel,
    *,
    color: bool,
    devices: tuple[Input, Output] | None = None,
) -> SearchHit | None:
    """Return the hit that a person chooses, None when the person leaves.

    The keyboard and the screen (`devices`) are by default stdin and the channel.
    """
    from prompt_toolkit.application import Application
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.document import Document
    from prompt_toolkit.output import ColorDepth

    keyboard, screen = devices or open_devices(channel)
    selection.update(query)
    buffer = Buffer(multiline=False, document=Document(query))
    application: Application[SearchHit | None] = Application(
        layout=_build_layout(selection, buffer, screen, color=color),
        key_bindings=_build_keys(selection),
        full_screen=True,
        erase_when_done=True,
        input=keyboard,
        output=screen,
        color_depth=None if color else ColorDepth.DEPTH_1_BIT,
    )
    application.ttimeoutlen = 0.05
    waiting: list[asyncio.Task[None]] = []

    async def search_when_typing_rests() -> None:
        await asyncio.sleep(_PAUSE_S)
        try:
            selection.update(buffer.text)
        except Signal as failed:
            application.exit(exception=failed)
        application.invalidate()

    def begin(_: Buffer) -> None:
        while waiting:
            waiting.pop().cancel()
        waiting.append(application.create_background_task(search_when_typing_rests()))

    buffer.on_text_changed += begin
    return application.run()


def _build_layout(selection: Selection, buffer: Buffer, screen: Output, *, color: bool) -> Layout:
    """Return the query line, the hits on at most half of the screen, the preview and the keys."""
    from prompt_toolkit.data_structures import Point
    from prompt_toolkit.formatted_text import ANSI
    from prompt_toolkit.layout import Dimension, HSplit, Layout, VSplit, Window
    from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl

    def show(draw: Callable[[Canvas], list[str]]) -> Callable[[], ANSI]:
        def draw_now() -> ANSI:
            width = limit_text_width(screen.get_size().columns)
            return ANSI("\n".join(draw(Canvas(width=width, color=color))))

        return draw_now

    hits = FormattedTextControl(
        show(selection.draw_list),
        get_cursor_position=lambda: Point(0, selection.index),  # the window scrolls there
    )
    keys = f"Enter {'open' if selection.opens else 'print'} · {_KEYS}"
    line = [
        Window(FormattedTextControl("search: "), dont_extend_width=True),
        Window(BufferControl(buffer)),
        Window(FormattedTextControl(lambda: selection.note), width=30),
    ]
    rows = [
        VSplit(line, height=1),
        Window(
            hits,
            height=lambda: Dimension(max=max(3, screen.get_size().rows // 2)),
            dont_extend_height=True,
        ),
        Window(char="─", height=1),
        Window(FormattedTextControl(show(selection.draw_preview))),
        Window(FormattedTextControl(keys), height=1),
    ]
    return Layout(HSplit(rows), focused_element=buffer)


def _build_keys(selection: Selection) -> KeyBindings:
    from prompt_toolkit.application import run_in_terminal
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()
    for name, step in {"up": -1, "c-p": -1, "down": 1, "c-n": 1}.items():
        keys.add(name)(lambda _, step=step: selection.move(step))
    for name, lines in {"pageup": -_SCROLLED, "pagedown": _SCROLLED}.items():
        keys.add(name)(lambda _, lines=lines: selection.turn(lines))

    @keys.add("c-o")
    async def open_file(_: KeyPressEvent) -> None:
        await run_in_terminal(selection.open)

    @keys.add("c-y")
    def copy(event: KeyPressEvent) -> None:
        """Send the reference to the terminal, which may put it on the clipboard."""
        if selection.chosen is not None:
            reference = format_location(selection.chosen.citation)
            text = base64.b64encode(reference.encode("utf-8", "replace")).decode()
            event.app.output.write_raw(f"\x1b]52;c;{text}\x07")
            event.app.output.flush()
            selection.note = f"sent: {reference}"

    def choose(event: KeyPressEvent) -> None:
        if selection.chosen is not None:
            event.app.exit(result=selection.chosen)

    keys.add("enter")(open_file if selection.opens else choose)
    for name in ("escape", "c-c", "c-d"):
        keys.add(name, eager=True)(lambda event: event.app.exit(result=None))
    return keys
