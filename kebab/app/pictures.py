"""Reads pictures with the vision model of the settings, and keeps what it wrote.

Workers of an ingest read pictures, one at a time. What a model wrote is kept in a file of the data
folder, one JSON object on each line, by the content of the picture, the model and the prompt. So no
picture is read twice, whatever happens to its file or to the index.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.app.model_adapters import build_language_model, require_language_model
from kebab.config.settings import Settings
from kebab.core.chunks import compute_digest, hash_content
from kebab.core.ports import PictureAnswer, PictureTask
from kebab.errors.catalog import ConfigInvalid, ModelUnreachable, TimedOut
from kebab.errors.signal import Signal
from kebab.platform import hold_lock
from kebab.store.sqlite.lock import PICTURES

if TYPE_CHECKING:
    from kebab.core.answers import LanguageModel

_MAX_LATE = 3
"""How many pictures one after another may be too late before the others are not asked about."""


class PictureModel:
    """The vision model of the settings, for OCR, captions or both; it is picklable for workers.

    Without `asks` it only knows what models wrote before.
    """

    def __init__(self, settings: Settings, folder: Path, *, asks: bool) -> None:
        """Send nothing yet.

        Raises:
            ConfigInvalid: There is no server, or it is one that may not have pictures.
        """
        ingest = settings.ingest
        wanted: tuple[tuple[PictureTask, bool], ...] = (
            ("ocr", ingest.ocr == "model"),
            ("caption", ingest.captions),
        )
        self.tasks = tuple(task for task, is_wanted in wanted if is_wanted)
        self.name = settings.models.vision or settings.models.llm.model
        self.deadline_s = settings.models.llm.total_s
        self._settings = settings
        self._cache = _Cache(folder / PICTURES)
        self._asks = asks
        self._ready = False
        self._late = 0
        self._fault: Signal | None = None
        if not asks:
            return
        name = "ingest.ocr" if ingest.ocr == "model" else "ingest.captions"
        if settings.models.llm.provider == "extractive":
            cause = "a model has to read pictures, and `models.llm.provider` is `extractive`"
            raise ConfigInvalid(path=name, cause=cause)
        from kebab.llm.endpoint import resolve_endpoint

        endpoint = resolve_endpoint(settings.models.llm)
        if settings.output.mask_secrets and not endpoint.is_loopback:
            cause = (
                "the model server is on another machine, and keys in pictures cannot be masked;"
                " `output.mask_secrets = false` lets it have them"
            )
            raise ConfigInvalid(path=name, cause=cause)
        self._endpoint = endpoint.display_url

    @property
    def recipe(self) -> str:
        """What decides the text of a document: the tasks, the model and the prompts."""
        from kebab.llm.pictures import PROMPT_VERSION

        return " ".join([*self.tasks, self.name, PROMPT_VERSION])

    def read(self, task: PictureTask, data: bytes, path: str) -> list[PictureAnswer]:
        """Return what the model writes about each page of a picture; a caption is of the first.

        Raises:
            ParseFailed: It cannot be read as a picture.
            DependencyMissing: Pillow is not installed.
        """
        from kebab.llm.pictures import PROMPT_VERSION, count_pages, encode_page

        pages = count_pages(data, path) if task == "ocr" else 1
        digest, answers = hash_content(data), list[PictureAnswer]()
        for number in range(pages):
            key = compute_digest("picture", task, self.name, PROMPT_VERSION, digest, str(number))
            known = self._cache.find(key)
            if known is None and self._asks:
                known = self._ask(task, key, encode_page(data, number, path))
            answers.append(known or PictureAnswer())
        return answers

    def _ask(self, task: PictureTask, key: str, picture: bytes) -> PictureAnswer:
        """Ask for what is not known yet; after the server has failed as such, nothing is asked."""
        from kebab.llm.pictures import ask_about_picture

        with self._cache.lock():
            if known := self._cache.find(key):
                return known
            try:
                model = self._prepare(task)
                answer = ask_about_picture(model, task, picture, self._endpoint)
            except Signal as fault:
                self._late = self._late + 1 if isinstance(fault, TimedOut) else 0
                if self._late >= _MAX_LATE:
                    self._fault = fault
                # The next picture finds out whether the server is still there.
                self._ready = self._ready and not isinstance(fault, ModelUnreachable)
                return PictureAnswer(failure=fault)
            self._late = 0
            self._cache.add(key, answer)
        return answer

    def _prepare(self, task: PictureTask) -> "LanguageModel":
        """Return the model, after its server said that it is there and sees pictures.

        Raises:
            Signal: It is not; it is also raised for all further pictures.
        """
        if self._fault is not None:
            raise self._fault
        if not self._ready:
            try:
                require_language_model(self._settings, self.name, task, vision=True)
            except Signal as fault:
                self._fault = fault
                raise
            self._ready = True
        return build_language_model(self._settings, self.name, operation=task)


class _Cache:
    """The file of the answers; several processes add lines to it, each while it holds the lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, PictureAnswer] = {}
        self._read = 0

    def find(self, key: str) -> PictureAnswer | None:
        """Return the answer that is kept under a key; a file that has changed is read again."""
        try:
            size = self._path.stat().st_size
        except OSError:
            size = 0
        if size != self._read:
            data = self._path.read_bytes()
            self._known, self._read = {}, len(data)
            for line in data.splitlines():
                with suppress(ValueError, TypeError, KeyError):
                    entry = json.loads(line)
                    answer = PictureAnswer(str(entry["text"]), bool(entry["cut"]))
                    self._known[str(entry["key"])] = answer
        return self._known.get(key)

    def add(self, key: str, answer: PictureAnswer) -> None:
        """Keep an answer; an unfinished line before it, of a process that was killed, is ended."""
        line = json.dumps({"key": key, "text": answer.text, "cut": answer.is_cut})
        with self._path.open("ab") as file:
            file.write(f"\n{line}\n".encode())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Wait until no other process asks; the system frees the lock of one that was killed."""
        with hold_lock(self._path):
            yield
