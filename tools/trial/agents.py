"""Simulates a coding agent that answers questions with one tool.

Both agents follow fixed rules, so that a run can be repeated. An agent stops when the text that it
has read matches everything the question needs, when the tool says that nothing matches, or when it
has no query left.
"""

import os
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_READ_LINES = 60
"""The number of lines that the agent reads at once of a file."""

_SHOWN_LINES = 60
"""The number of lines of ripgrep's output that the agent looks at."""

_NOTHING = 1
"""The exit status of both tools when nothing matches."""

_NOWHERE = "not in your notes: "
"""How kebab names the words of a query that occur nowhere; the agent then stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, what each agent sends, and what a complete answer needs.

    `needs` are regular expressions that must all match the text that was read; a question without
    them is not answered by the documents.
    """

    text: str
    queries: Sequence[str]
    rewordings: Sequence[str]
    patterns: Sequence[str]
    needs: Sequence[str] = ()

    def is_answered_by(self, read: str) -> bool:
        """Return whether a text holds everything that the answer needs."""
        return bool(self.needs) and all(re.search(need, read) for need in self.needs)


@dataclass(slots=True, kw_only=True)
class Attempt:
    """What one agent did for one question."""

    calls: int = 0
    bytes: int = 0
    first_reply: bool = False
    """Whether the first reply held the complete answer."""
    answered: bool = False
    judged_absent: bool = False
    """Whether the tool said that nothing matches, or nothing convincing."""
    processor_seconds: float = 0.0
    read: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reply:
    """What one call printed, and its exit status."""

    text: str
    status: int


def run_tool(command: Sequence[str], folder: Path, shown: int | None = None) -> Reply:
    """Run a command and return its output, at most `shown` lines of it."""
    done = subprocess.run(  # noqa: S603 - kebab, ripgrep and sed
        command,
        cwd=folder,
        # The time of a warm process would not be counted.
        env={**os.environ, "KEBAB_DAEMON_AUTO": "false"},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    lines = done.stdout.splitlines(keepends=True)
    return Reply("".join(lines[:shown]), done.returncode)


def answer(question: Question, replies: Iterator[Reply]) -> Attempt:
    """Read replies until the question is answered, and count them."""
    attempt, before = Attempt(), _measure_children()
    for reply in replies:
        attempt.calls += 1
        attempt.bytes += len(reply.text.encode())
        attempt.read.append(reply.text)
        attempt.answered = question.is_answered_by("\n".join(attempt.read))
        if attempt.calls == 1:
            attempt.first_reply = attempt.answered
        if attempt.answered:
            break
    else:
        attempt.judged_absent = not question.needs
    attempt.processor_seconds = _measure_children() - before
    return attempt


def _measure_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclass(frozen=True, slots=True)
class KebabAgent:
    """Sends one query for each part in one call, then reads a section, then rewords."""

    docs: Path
    data_dir: Path

    def ask(self, question: Question) -> Iterator[Reply]:
        """Yield what kebab prints, call after call."""
        reply = self._search(question.queries)
        yield reply
        if reply.status == _NOTHING or _NOWHERE in reply.text:
            return
        for reference in find_references(reply.text)[: len(question.queries)]:
            yield self._run("fetch", reference, "--section", "--max-tokens", "1000")
        for rewording in question.rewordings:
            yield self._search([rewording])

    def _search(self, queries: Sequence[str]) -> Reply:
        flags = [word for query in queries for word in ("-q", query)]
        return self._run("search", *flags, "--format", "compact")

    def _run(self, *arguments: str) -> Reply:
        command = [sys.executable, "-m", "kebab", "--data-dir", str(self.data_dir), *arguments]
        return run_tool(command, self.docs)


def find_references(text: str) -> list[str]:
    """Return the references to lines of files in a compact reply, best first."""
    return re.findall(r"^(?:\[\d+\] )?(\S+#L\d+(?:-L\d+)?)", text, re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RipgrepAgent:
    """Searches for the patterns, and reads the file with the most matches around the first one.

    The patterns of a question with two parts are sent together first.
    """

    docs: Path
    program: str

    def ask(self, question: Question) -> Iterator[Reply]:
        """Yield what ripgrep and sed print, call after call."""
        together = [question.patterns] if len(question.queries) > 1 else []
        for patterns in (*together, *([pattern] for pattern in question.patterns)):
            flags = [word for pattern in patterns for word in ("-e", pattern)]
            command = (self.program, "-n", "-i", "--sort=path", "-C2", "-m4", *flags, ".")
            reply = run_tool(command, self.docs, _SHOWN_LINES * len(patterns))
            yield reply
            if len(patterns) == 1 and (place := find_densest_file(reply.text)):
                path, line = place
                start = max(1, line - _READ_LINES // 3)
                yield run_tool(("sed", "-n", f"{start},{start + _READ_LINES}p", path), self.docs)


def find_densest_file(output: str) -> tuple[str, int] | None:
    """Return the file with the most matching lines in ripgrep's output, and its first match."""
    matches = re.findall(r"^(.+?):(\d+):", output, re.MULTILINE)
    if not matches:
        return None
    path = Counter(path for path, _ in matches).most_common(1)[0][0]
    return path, next(int(line) for name, line in matches if name == path)
