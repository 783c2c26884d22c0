"""Kills publishers and readers of a published base at random moments, and looks what is left.

    python -m tools.published_kills --rounds 200 --seed 1
    python -m tools.published_kills --rounds 100 --store s3 --vectors

In every round all notes change and are indexed. Then `publish`, the pull of a reader or the reading
of one without a copy is killed, or two publishers run at once. After each kill a new reader and an
old one, with a copy and without, must find one whole snapshot: every note, all of the same round.
Publishing and pulling again must then succeed. With `--vectors` a model of random weights embeds
the notes, and readers must find the vectors that the publisher had in that round. `--store s3`
publishes to moto's server in a process of its own.
Steps run in forked processes, because the runtime of the object store does not survive a fork.
"""

import argparse
import http.client
import os
import pickle
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.app.context import AppContext
from kebab.app.ingest import ingest
from kebab.app.publish import publish
from kebab.config.load import load_settings
from kebab.core.documents import EMBEDDING_VERSION
from kebab.core.progress import Cancel, ignore_progress
from kebab.embed.registry import MODELS
from kebab.errors.catalog import Locked
from kebab.wire.ingest import IngestRequest
from kebab.wire.published import PublishRequest
from tests.fakes import tiny_model
from tests.fakes.object_server import BUCKET, CREDENTIALS

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import SqliteReader

NOTES = 40
WORDS = tiny_model.WORDS[len(tiny_model.SPECIAL) :]
PULL, REMOTE = "pull", "remote"
_DONE, _FAILED, _REFUSED = 0, 1, 2
_START_S, _TRIES = 0.2, 100


class Stage:
    """The folders of a run, and the steps on them."""

    def __init__(self, folder: Path, address: str, *, vectors: bool) -> None:
        self.folder, self.address = folder, address
        self.notes = folder / "notes"
        self.notes.mkdir()
        if vectors:
            for seed, model in enumerate(MODELS):
                tiny_model.install_model(model, folder / "models", seed=seed)
        self.vectors = vectors

    def open(self, data_dir: str, mode: str = PULL) -> AppContext:
        """Return the context of a data folder or of an address."""
        models = str(self.folder / "models")
        flags = {"data_dir": data_dir, "models_dir": models, "offline": True}
        flags["published.mode"] = mode
        settings = load_settings(environ={}, flags=flags)
        return AppContext(settings, config_path=self.folder / "config.toml")

    def write(self, number: int) -> None:
        """Change every note, and index them."""
        for note in range(NOTES):
            words = (WORDS[(number + note * at) % len(WORDS)] for at in range(20))
            text = f"# Note {note}\n\n" + f"round{number} of note {note}. " * 40 + " ".join(words)
            (self.notes / f"n{note}.md").write_text(text, encoding="utf-8")
        request = IngestRequest(paths=[str(self.notes)])
        context = self.open(str(self.folder / "data"))
        ingest(context, request, ignore_progress, Cancel())
        with context.open_reader() as reader:
            found = pickle.dumps(load_vectors(context, reader))
        (self.folder / f"round{number}.vectors").write_bytes(found)

    def publish(self) -> None:
        """Publish; another publisher may be faster."""
        request = PublishRequest(dest=self.address.removeprefix("file://"), with_texts=True)
        publish(self.open(str(self.folder / "data")), request, ignore_progress)

    def pull(self, mode: str = PULL) -> None:
        """Bring the copy of the reader up to date, or what one without a copy keeps."""
        self._use_cache("cache")
        copy = self.open(self.address, mode).published
        assert copy is not None
        copy.build_mirror().refresh(time.time(), at_once=True)

    def check(self, cache: str) -> None:
        """Let a reader with a copy and one without read all notes."""
        self._use_cache(cache)
        for mode in (PULL, REMOTE):
            self._check(mode)

    def _check(self, mode: str) -> None:
        """Read all notes, of which each must be of the same round as the others."""
        context = self.open(self.address, mode)
        with context.open_reader() as reader:
            rows = reader._database.execute("SELECT doc, text FROM chunks").fetchall()  # noqa: SLF001
            vectors = load_vectors(context, reader)
        rounds = {
            word for _, text in rows for word in str(text).split() if word.startswith("round")
        }
        files = [*(context.paths.data / "files").rglob("*.md")]
        found = {path.read_text(encoding="utf-8").split("round")[1].split()[0] for path in files}
        whole = len({doc for doc, _ in rows}) == NOTES and len(rounds) == 1
        copied = len(files) == NOTES and {f"round{one}" for one in found} == rounds
        if not whole or not (copied or mode == REMOTE):
            raise AssertionError(f"not one whole snapshot: {sorted(rounds)}, {len(files)} files")
        (name,) = rounds
        kept = pickle.loads((self.folder / f"{name}.vectors").read_bytes())  # noqa: S301 - our own
        if vectors != kept or len(vectors) != self.vectors * len(rows):
            raise AssertionError(f"not the vectors of {name}: {len(vectors)} of {len(rows)}")
        context.close()

    def _use_cache(self, name: str) -> None:
        os.environ["XDG_CACHE_HOME"] = str(self.folder / name)


def load_vectors(context: AppContext, reader: "SqliteReader") -> dict[str, bytes]:
    """Return the vectors of all passages by their ids."""
    version = reader.get_value(EMBEDDING_VERSION)
    index = context.open_vector_index(version).load_index() if version else None
    if index is None:
        return {}
    rows: Any = reader._database.execute("SELECT key, chunk_id FROM chunks").fetchall()  # noqa: SLF001
    found = index.get([key for key, _ in rows])
    return {chunk_id: found[key].tobytes() for key, chunk_id in rows if key in found}


@contextmanager
def serve_store() -> Iterator[str]:
    """Serve an empty bucket in a process of its own; yield an address in it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - our own Python
    try:
        for left in reversed(range(_TRIES)):
            time.sleep(_START_S)
            connection = http.client.HTTPConnection("127.0.0.1", port)
            try:
                connection.request("PUT", f"/{BUCKET}")
                connection.getresponse().read()
                break
            except OSError:
                require(left > 0, "the server did not start")
            finally:
                connection.close()
        os.environ.update(CREDENTIALS, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}")
        yield f"s3://{BUCKET}/base"
    finally:
        server.terminate()
        server.wait()


def run(step: Callable[[], None], kill_after: float | None = None) -> int:
    """Run a step in a process of its own; return its status, or the negative number of a signal."""
    pid = os.fork()
    if not pid:
        status = _FAILED
        try:
            step()
            status = _DONE
        except Locked:
            status = _REFUSED
        except BaseException:  # noqa: BLE001 - the process ends without any clean-up
            traceback.print_exc()
        finally:
            os._exit(status)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def measure(step: Callable[[], None]) -> float:
    """Return how long a step takes."""
    started = time.monotonic()
    require(run(step) == _DONE, "a step failed without a kill")
    return time.monotonic() - started


def require(held: bool, what: str) -> None:  # noqa: FBT001 - an assertion
    """Stop when something does not hold."""
    if not held:
        raise AssertionError(what)


def run_round(stage: Stage, number: int, chance: random.Random, seconds: float) -> str:
    """Run one round; return what was done."""
    require(run(lambda: stage.write(number)) == _DONE, "the ingest failed")
    kind = chance.choice(("publish", "publish", "pull", "pull", "remote", "remote", "two"))
    if kind == "publish":
        status = run(stage.publish, chance.uniform(0, seconds))
        kind = "publish killed" if status < 0 else "publish done before"
    elif kind in (PULL, REMOTE):
        require(run(stage.publish) == _DONE, "publish failed")
        mode = kind
        status = run(lambda: stage.pull(mode), chance.uniform(0, seconds))
        kind = f"{mode} killed" if status < 0 else f"{mode} done before"
    else:
        other = os.fork()
        if not other:
            os._exit(run(stage.publish))
        statuses = {run(stage.publish), os.waitstatus_to_exitcode(os.waitpid(other, 0)[1])}
        require(statuses <= {_DONE, _REFUSED} and _DONE in statuses, f"two publishers: {statuses}")
    require(run(lambda: stage.check("cache")) == _DONE, f"the old reader, after {kind}")
    shutil.rmtree(stage.folder / "new", ignore_errors=True)
    require(run(lambda: stage.check("new")) == _DONE, f"a new reader, after {kind}")
    require(run(stage.publish) == _DONE, f"publish after {kind}")
    for mode in (PULL, REMOTE):
        require(run(partial(stage.pull, mode)) == _DONE, f"{mode} after {kind}")
    require(run(lambda: stage.check("cache")) == _DONE, f"the end of the round, after {kind}")
    return kind


def run_rounds(rounds: int, seed: int, *, s3: bool, vectors: bool) -> dict[str, int]:
    """Run rounds in a temporary folder; return how often each kind came."""
    chance, counts = random.Random(seed), dict[str, int]()  # noqa: S311 - kills need no secrets
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="published-kills-"))
        address = stack.enter_context(serve_store()) if s3 else f"file://{name}/dest"
        stage = Stage(Path(name), address, vectors=vectors)
        for kind in ("CONFIG", "DATA", "STATE"):
            os.environ[f"XDG_{kind}_HOME"] = str(stage.folder / kind.lower())
        require(run(lambda: stage.write(0)) == _DONE, "the first ingest failed")
        seconds = measure(stage.publish)
        seconds = max(seconds, measure(stage.pull))
        for number in range(1, rounds + 1):
            kind = run_round(stage, number, chance, seconds)
            counts[kind] = counts.get(kind, 0) + 1
            sys.stderr.write(f"{number} {kind}\n")
    return counts


def main() -> int:
    """Run the rounds that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=("folder", "s3"), default="folder")
    parser.add_argument("--vectors", action="store_true", help="embed the notes with a tiny model")
    chosen = parser.parse_args()
    counts = run_rounds(chosen.rounds, chosen.seed, s3=chosen.store == "s3", vectors=chosen.vectors)
    sys.stdout.write(f"{chosen.rounds} rounds, 0 broken: {counts}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
