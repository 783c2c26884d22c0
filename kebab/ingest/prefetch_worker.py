"""The program of the process that makes rows ahead of those that are stored."""

import sys
import time
from multiprocessing.connection import Connection

from kebab.chunk.budget import Budget
from kebab.errors.catalog import ParseFailed, TimedOut, UnsupportedMedia
from kebab.ingest.build import Press, read
from kebab.ingest.prefetch import Ready, Task, Terms
from kebab.parse.registry import PARSERS


def main(tasks: str, rows: str) -> None:
    """Answer each batch of tasks with its rows until there is nobody to ask."""
    asked = Connection(int(tasks), writable=False)
    answers = Connection(int(rows), readable=False)
    try:
        press = pressed(asked.recv())
        while True:
            answers.send([ready(press, task) for task in asked.recv()])
    except (EOFError, OSError):
        return


def pressed(terms: Terms) -> Press:
    """Return what makes the same rows as the one who asks."""
    return Press(
        parsers=PARSERS,
        budget=Budget(terms.limit),
        chunker=terms.chunker,
        recipes=terms.recipes,
        deadline_s=terms.deadline_s,
    )


def ready(press: Press, task: Task) -> Ready | None:
    """Return a row, or None for a file whose fault has to be told."""
    began = time.monotonic()
    try:
        row = press.row(task.source, task.entry, task.doc, read(task.entry.absolute))
    except (OSError, ParseFailed, TimedOut, UnsupportedMedia):
        return None
    return Ready(row, (time.monotonic() - began) * 1000)


if __name__ == "__main__":
    main(*sys.argv[1:])
