"""Reads a sample of the files that only a worker process reads, for the survey of languages."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from kebab.core.file_ports import Parser
from kebab.core.files import FileEntry
from kebab.errors.signal import Signal
from kebab.ingest.build import read_file
from kebab.ingest.job import ParserGuard
from kebab.limits.faults import raise_memory_error
from kebab.limits.worker import DEFAULT_MEMORY_MB, WorkerProcess
from kebab.text.language_share import measure_languages

SAMPLE_FILES = 16
_MAX_BYTES = 4_000_000
_SECONDS = 2.0
"""The files are read whole, so the sample has few of them, and no large ones."""

_FILE_SECONDS = 1.0
_GRACE_S = 0.2
_START_S = 5.0
"""How long the sample waits for its worker."""

_MEASURED_CHARS = 16_384


class TextMeasure(NamedTuple):
    """The bytes of text in a file, and those of its beginning by language."""

    size: int
    languages: Counter[str]


@dataclass(frozen=True, slots=True)
class TextMeter:
    """Measures the text of a file in a worker process."""

    parsers: Mapping[str, Parser]
    guard: ParserGuard

    def __call__(self, entry: FileEntry) -> TextMeasure | None:
        """Return the measure; None for a file that cannot be read.

        Raises:
            MemoryError: The file needs more memory than the process may have.
        """
        parser = self.parsers[entry.media]
        try:
            data = read_file(entry.absolute).data
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
    step = max(1, -(-len(small) // SAMPLE_FILES))
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
        if not worker.poll(_START_S) or worker.receive() is None:
            return
        ends = time.monotonic() + _SECONDS
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
