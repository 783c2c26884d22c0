"""Surveys the languages of the text that a run reads, from a sample of its files."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from kebab.core.files import FileEntry
from kebab.core.media import CitationKind, get_media_type
from kebab.core.ports import Parser, is_isolated
from kebab.errors.signal import Signal
from kebab.ingest.job import ParserGuard
from kebab.ingest.members import read_entry
from kebab.ingest.plan import Plan
from kebab.limits.deadline import raise_memory_error
from kebab.limits.worker import DEFAULT_MEMORY_MB, START_S, WorkerProcess
from kebab.text.language import measure_languages

if TYPE_CHECKING:
    from kebab.parse.containers import ContainerFiles
    from kebab.store.sqlite.writer import SqliteWriter

ISOLATED_SAMPLE_FILES = 16
_MAX_BYTES = 4_000_000
_ISOLATED_SECONDS = 2.0
"""The files are read whole, so the sample has few of them, and no large ones."""

_FILE_SECONDS = 1.0
_GRACE_S = 0.2
"""How long the sample waits for its worker."""

_MEASURED_CHARS = 16_384

SAMPLE_FILES = 200
SAMPLE_BYTES = 16_384
"""The survey reads so much of the beginning of so many files: less than half a second of work."""

_SECONDS = 2.0
"""The longest time for the sample of one file."""


class TextMeasure(NamedTuple):
    """The bytes of text in a file, and those of its beginning by language."""

    size: int
    languages: Counter[str]


@dataclass(frozen=True, slots=True)
class TextMeter:
    """Measures the text of a file in a worker process."""

    parsers: Mapping[str, Parser]
    guard: ParserGuard
    containers: "ContainerFiles | None" = None

    def __call__(self, entry: FileEntry) -> TextMeasure | None:
        """Return the measure; None for a file that cannot be read.

        Raises:
            MemoryError: The file needs more memory than the process may have.
        """
        parser = self.parsers[entry.media]
        try:
            data = read_entry(entry, self.containers).data
            with self.guard(entry.path, parser.version, _FILE_SECONDS):
                text = parser.parse(data, entry.path).text
        except OSError:
            return None
        except Signal as error:
            raise_memory_error(error)
            return None
        return TextMeasure(len(text.encode()), measure_languages(text[:_MEASURED_CHARS]))


def survey_isolated(files: Sequence[FileEntry], meter: TextMeter) -> Counter[str]:
    """Return the bytes of text by language, extrapolated from files at equal steps."""
    small = [entry for entry in files if entry.size <= _MAX_BYTES]
    step = max(1, -(-len(small) // ISOLATED_SAMPLE_FILES))
    sampled: Counter[str] = Counter()
    text_bytes = file_bytes = 0
    for entry, measure in _measure_files(small[::step], meter):
        sampled.update(measure.languages)
        text_bytes += measure.size
        file_bytes += entry.size
    total = sum(entry.size for entry in small) * text_bytes // max(1, file_bytes)
    return Counter({code: size * total // sampled.total() for code, size in sampled.items()})


def _measure_files(
    files: Sequence[FileEntry], meter: TextMeter
) -> Iterator[tuple[FileEntry, TextMeasure]]:
    """Yield the files that one worker reads in time; one that ends the worker is the last."""
    if not files:
        return
    with suppress(OSError), WorkerProcess(meter, DEFAULT_MEMORY_MB) as worker:
        if not worker.poll(START_S) or worker.receive() is None:
            return
        ends = time.monotonic() + _ISOLATED_SECONDS
        for entry in files:
            worker.send(entry)
            left = min(_FILE_SECONDS, ends - time.monotonic())
            reply = worker.receive() if worker.poll(max(0.0, left) + _GRACE_S) else None
            if reply is None or reply.fault:
                return
            if reply.result is not None:
                yield entry, reply.result
            if time.monotonic() >= ends:
                return


def survey_languages(
    plan: Plan,
    library: "SqliteWriter",
    parsers: Mapping[str, Parser],
    guard: ParserGuard,
    containers: "ContainerFiles | None" = None,
) -> Mapping[str, int]:
    """Return the bytes of text by ISO 639 code, under an empty string where it is unsure.

    Stored documents count by their language, files to be read by a sample.
    """
    found = Counter(library.measure_languages())
    files = [task.entry for task in plan.list_files_to_read() if task.entry.media in parsers]
    isolated = [is_isolated(parsers[entry.media]) for entry in files]
    texts = [entry for entry, alone in zip(files, isolated, strict=True) if not alone]
    meter = TextMeter(parsers, guard, containers)
    found.update(_survey_files(texts, meter))
    found.update(survey_isolated([*compress(files, isolated)], meter))
    return found


def _survey_files(files: Sequence[FileEntry], meter: TextMeter) -> Counter[str]:
    """Return the bytes of the files by language, extrapolated from files at equal steps."""
    step = max(1, -(-len(files) // SAMPLE_FILES))
    sampled: Counter[str] = Counter()
    for entry in files[::step]:
        # A file that cannot be read or parsed is reported when its turn comes.
        parser = meter.parsers[entry.media]
        with suppress(OSError, Signal), meter.guard(entry.path, parser.version, _SECONDS):
            data = _read_beginning(entry, meter.containers)
            text = ""
            if get_media_type(entry.media).cites is CitationKind.LINE and b"\0" not in data:
                with suppress(UnicodeDecodeError):
                    text = data.decode()
            sampled.update(measure_languages(text or parser.parse(data, entry.path).text))
    total, measured = sum(entry.size for entry in files), sampled.total()
    return Counter({code: size * total // measured for code, size in sampled.items()})


def _read_beginning(entry: FileEntry, containers: "ContainerFiles | None") -> bytes:
    """Return the first bytes of a file, up to a line end so that no character is divided."""
    if containers is not None and entry.container:
        data = containers.read(entry.absolute, entry.span)[: SAMPLE_BYTES + 1]
    else:
        with open(entry.absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
            data = file.read(SAMPLE_BYTES + 1)
    if len(data) <= SAMPLE_BYTES:
        return data
    end = data.rfind(b"\n", 0, SAMPLE_BYTES)
    return data[: end + 1 if end > 0 and b"\0" not in data else SAMPLE_BYTES]
