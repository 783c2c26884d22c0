"""Where runs take place: the seams between kebab and the world, the homes, the server."""

import gc
import importlib.metadata
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kebab.errors.signal import Signal
from tests.fakes.console import CommandResult, run
from tests.fakes.ollama import FakeOllama, fake_ollama
from tests.fakes.ollama_script import Step
from tests.faults.homes import Homes, set_environment
from tests.faults.library import describe_library
from tests.faults.seams import files, lance, model, network, process, sqlite
from tests.faults.session import Command, Names, list_commands, list_states
from tests.faults.world import Injection, World

MODEL = "gemma3:4b"
_IMPATIENT = {"KEBAB_MODELS_LLM_FIRST_TOKEN_S": "5"}
_SHORT = {"KEBAB_MODELS_EMBEDDING_DEADLINE_S": "0.05"}
"""For a model that hangs."""


@dataclass
class Stage:
    """One knowledge base in a world that can fail."""

    homes: Homes
    server: FakeOllama
    world: World = field(default_factory=World)
    session: list[Command] = field(default_factory=list)
    _whole: dict[tuple[str, str, bool], dict[str, Any]] = field(default_factory=dict)
    """The libraries that were found whole after a home was left with these bytes."""

    def __post_init__(self) -> None:
        self.clocks = process.Clocks(self.world)

    def prepare(self) -> None:
        """Make every state of the home, and the session."""
        for name, steps in list_states(self.homes.notes).items():
            for step in steps:
                ran = run(*step.line, stdin=step.stdin)
                assert ran.status == 0, (step.name, ran.err)
            self.homes.keep(name)
        documents = run("list", "--json").reply["documents"]
        document = next(one for one in documents if one["doc_path"] == "bread.md")
        text = next(one for one in documents if one["title"] == "Tea")
        chunks = run("inspect", "doc", document["doc_id"], "--json").reply["chunks"]
        known = Names(self.homes.notes, document["doc_id"], chunks[0]["chunk_id"], text["doc_id"])
        self.session = list_commands(known)
        for sidecar in self.homes.data.glob("lance/*.keys"):
            sidecar.unlink()
        self.homes.keep("bare")

    def run(
        self,
        command: Command,
        injection: Injection | None = None,
        *,
        says: Sequence[Step] = (),
        settings: Mapping[str, str] | None = None,
        watched: bool = False,
    ) -> CommandResult:
        """Run a command in the home as it is; `watched` counts the calls of functions."""
        self.server._scripts.clear()
        self.server.enqueue(*(says or command.says))
        self.clocks.reset()
        more = {**_IMPATIENT, **command.settings, **(settings or {})}
        if injection is not None and injection.fault.name == "slow":
            more |= _SHORT
        watched = watched or (injection is not None and injection.point in process.COSTLY)
        profile = process.profile_calls(self.world) if watched else nullcontext()
        with _build_settings(more), self.world.at_work(injection), profile:
            return run(*command.line, stdin=command.stdin)

    def restore(self, command: Command) -> None:
        """Make the home what the command expects to find."""
        changed = command.home in ("edited", "moved")
        self.homes.show(command.home if changed else "first")
        self.homes.restore("ready" if changed else command.home)

    def recovered(self, command: Command, *, look: bool = True) -> dict[str, Any] | str:
        """Run what a person runs next; return the library, or what is wrong with it.

        With `look` doctor must find nothing wrong. What was whole after these bytes is so again.

        A file that could not be read when it had just been moved may have got a new id.
        """
        left = (command.home, self.homes.compute_digest("config", "data"))
        for looked in {look, True}:
            if known := self._whole.get((*left, looked)):
                return known
        found = self._recover(command, look=look)
        if not isinstance(found, str):
            self._whole[*left, look] = found
        return found

    def _recover(self, command: Command, *, look: bool) -> dict[str, Any] | str:
        notes, has_texts = str(self.homes.notes), (self.homes.data / "stdin").exists()
        again = run("ingest", "--json") if has_texts else None
        runs = [again] if again and not again.status and notes in again.reply["scope"] else []
        if not runs:  # the folder is no source any more, or none can be told
            more = ((notes,), ()) if has_texts else ((notes,),)
            runs = [run("ingest", *arguments, "--json") for arguments in more]
        for ran in runs:
            if ran.status:
                return f"the next ingest ends with {ran.status}: {ran.err[-600:]}"
            if ran.reply["errors"] or ran.reply["embedding"]["pending"]:
                return f"the next ingest leaves something undone: {ran.out[-600:]}"
        if look and (health := run("doctor", "--json")).status:
            return f"doctor: {_find_unhealthy(health)}"
        try:
            return describe_library(self.homes.data, ids=command.home != "moved")
        except Signal as signal:
            return f"doctor finds nothing wrong: {signal}"


@contextmanager
def open_stage(folder: Path) -> Iterator[Stage]:
    """Yield the stage, with every seam in place; afterwards all is as before."""
    homes = Homes(folder)
    with pytest.MonkeyPatch.context() as patch, fake_ollama(MODEL) as server:
        homes.build()
        set_environment(patch, homes.live, OLLAMA_HOST=server.url)
        stage = Stage(homes, server)
        with sqlite.install(stage.world):
            files.Files(stage.world, homes.live).install(patch)
            lance.install(stage.world, patch)
            model.install(stage.world, patch)
            network.install(stage.world, patch)
            stage.clocks.install(patch)
            process.install_channels(stage.world, patch)
            stage.prepare()
            # Every ingest asks for them: 10 ms, and more through these seams.
            entry_points = cache(importlib.metadata.entry_points)
            patch.setattr(importlib.metadata, "entry_points", entry_points)
            gc.collect()
            gc.freeze()
            try:
                yield stage
            finally:
                gc.unfreeze()


def _find_unhealthy(health: CommandResult) -> str:
    """Return what doctor found."""
    checks = [one for line in health.events for one in line["checks"]]
    return f"{[one for one in checks if one['status'] == 'fail']}{health.err[-300:]}"


@contextmanager
def _build_settings(more: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
