"""Runs kebab in a home of its own, and keeps the statements that it makes."""

import json
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from tools.claims.corpora import Corpus
from tools.home import build_environment

_DEADLINE_S = 300

ABSENCE = re.compile(
    r"not in (?:your|the) notes: (?P<words>.+)"
    r"|^(?:note: )?(?:no results|nothing convincing)(?! so far)\b"
    r"|^note: no line matches in [\d,]+ files: [^(\n]*$",
    re.MULTILINE,
)
"""The sentences that state an absence without a limit.

They are copied from the output on purpose: a changed wording must be noticed here.
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that a situation is about: whether kebab made it, and whether it is true."""

    situation: str
    text: str
    made: bool
    true: bool

    @property
    def is_false(self) -> bool:
        """Whether kebab said what is not so."""
        return self.made and not self.true

    @property
    def is_withheld(self) -> bool:
        """Whether kebab did not say what is so."""
        return self.true and not self.made


@dataclass(frozen=True, slots=True)
class Reply:
    """The output of one call, as text and as its JSON object."""

    status: int
    text: str
    data: dict[str, Any]

    @property
    def coverage(self) -> dict[str, Any]:
        """What the reply says of the index; empty when it says nothing."""
        found: dict[str, Any] = self.data.get("coverage") or {}
        return found

    def states_absence(self, word: str = "") -> bool:
        """Return whether the text states, without a limit, that a word or a passage is absent."""
        return any(
            not match["words"] or word.lower() in match["words"].lower()
            for match in ABSENCE.finditer(self.text)
        )


Runner = Callable[[Sequence[str], Mapping[str, str], Path], "subprocess.CompletedProcess[str]"]
"""Runs the arguments of a command line with an environment in a folder."""


def run_process(
    arguments: Sequence[str], environ: Mapping[str, str], folder: Path
) -> "subprocess.CompletedProcess[str]":
    """Run a command line as a process."""
    return subprocess.run(  # noqa: S603 - the program is kebab
        [sys.executable, "-m", "kebab", *arguments],
        env=dict(environ),
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=_DEADLINE_S,
    )


@dataclass(slots=True)
class Stage:
    """A home, a corpus in it, and the statements about it.

    Args:
        name: The situation, for the report.
        folder: An empty folder for the home.
        corpus: The notes.
        dice: The source of choices.
        models: The folder of embedding models; without one, words only.
        runner: What runs a command line to its end.
    """

    name: str
    folder: Path
    corpus: Corpus
    dice: random.Random
    models: Path | None = None
    runner: Runner = run_process
    statements: list[Statement] = field(default_factory=list)

    @property
    def notes(self) -> Path:
        """The folder of the notes."""
        return self.corpus.folder

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every call."""
        return build_environment(self.folder, self.models)

    def call(self, *arguments: str, env: Mapping[str, str] | None = None) -> Reply:
        """Run a command as text and with `--json`, and return both; the JSON call decides."""
        text = self.run(*arguments, env=env)
        data = self.run(*arguments, "--json", env=env)
        lines = (data.stdout or data.stderr).splitlines()
        return Reply(data.returncode, text.stdout + text.stderr, json.loads(lines[-1]))

    def run(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command line to its end."""
        return self.runner(arguments, {**self.environment, **(env or {})}, self.folder)

    def ingest(self) -> None:
        """Read the notes completely."""
        done = self.run("ingest", str(self.notes))
        if done.returncode:
            raise RuntimeError(done.stderr)

    @contextmanager
    def stop_ingest(self, after: str, path: str = "") -> Iterator[None]:
        """Start an ingest, stop it when an event of a kind appears, and kill it at the end.

        Within the context the process exists, but does nothing.
        """
        process = subprocess.Popen(  # noqa: S603 - the program is kebab
            [sys.executable, "-m", "kebab", "--json", "ingest", str(self.notes)],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stderr is not None
        try:
            for line in process.stderr:
                event = json.loads(line)
                if event.get("kind") == after and path in event.get("path", ""):
                    break
            process.send_signal(signal.SIGSTOP)
            yield
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    def kill_ingest(self, after: str, path: str = "") -> None:
        """Kill an ingest when an event of a kind appears."""
        with self.stop_ingest(after, path):
            pass

    def list_indexed(self) -> set[str]:
        """Return the paths of the documents in the index."""
        listed = self.run("list", "--json")
        if listed.returncode:
            return set()
        return {one["doc_path"] for one in json.loads(listed.stdout)["documents"]}

    def judge(self, text: str, *, made: bool, true: bool) -> None:
        """Keep a statement."""
        self.statements.append(Statement(self.name, text, made, true))


class _BrokenServer(BaseHTTPRequestHandler):
    """Answers every request in one wrong way."""

    status: ClassVar[int] = 200
    body: ClassVar[bytes] = b"lorem ipsum"

    def do_GET(self) -> None:
        """Answer a request."""
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(self.status)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    do_POST = do_GET  # noqa: N815 - the name that the library calls

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the library names it
        """Print nothing."""


@contextmanager
def run_broken_server(status: int, body: bytes) -> Iterator[str]:
    """Yield the address of a server on loopback whose every answer is this one."""
    handler = type("Handler", (_BrokenServer,), {"status": status, "body": body})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
