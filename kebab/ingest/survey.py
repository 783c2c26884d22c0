"""Surveys the languages of the texts of a run, for the choice of the embedding model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import compress

from kebab.core.file_ports import Parser, is_isolated
from kebab.core.files import FileEntry
from kebab.core.ports import LibraryWriter
from kebab.errors.signal import Signal
from kebab.ingest.isolated_sample import TextMeter, survey_isolated
from kebab.ingest.job import ParserGuard
from kebab.ingest.plan import Plan
from kebab.text.language_share import measure_languages

SAMPLE_FILES = 200
SAMPLE_BYTES = 16_384
"""The survey reads so much of the beginning of so many files: less than half a second of work."""


_SECONDS = 2.0
"""The longest time for the sample of one file."""


def survey_languages(
    plan: Plan, library: LibraryWriter, parsers: Mapping[str, Parser], guard: ParserGuard
) -> Mapping[str, int]:
    """Return the bytes of text by ISO 639 code, under an empty string where it is unsure.

    Stored documents count by their language, files to be read by a sample.
    """
    found = Counter(library.measure_languages())
    files = [task.entry for task in plan.tasks if task.entry.media in parsers]
    isolated = [is_isolated(parsers[entry.media]) for entry in files]
    texts = [entry for entry, alone in zip(files, isolated, strict=True) if not alone]
    found.update(_survey_files(texts, parsers, guard))
    found.update(survey_isolated([*compress(files, isolated)], TextMeter(parsers, guard)))
    return found


def _survey_files(
    files: Sequence[FileEntry], parsers: Mapping[str, Parser], guard: ParserGuard
) -> Counter[str]:
    """Return the bytes of the files by language, extrapolated from files at equal steps."""
    step = max(1, -(-len(files) // SAMPLE_FILES))
    sampled: Counter[str] = Counter()
    for entry in files[::step]:
        # A file that cannot be read or parsed is reported when its turn comes.
        parser = parsers[entry.media]
        with suppress(OSError, Signal):
            with guard(entry.path, parser.version, _SECONDS):
                text = parser.parse(_read_beginning(entry), entry.path).text
            sampled.update(measure_languages(text))
    total, measured = sum(entry.size for entry in files), sampled.total()
    return Counter({code: size * total // measured for code, size in sampled.items()})


def _read_beginning(entry: FileEntry) -> bytes:
    """Return the first bytes of a file, up to a line end so that no character is divided."""
    with open(entry.absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
        data = file.read(SAMPLE_BYTES + 1)
    if len(data) <= SAMPLE_BYTES:
        return data
    end = data.rfind(b"\n", 0, SAMPLE_BYTES)
    return data[: end + 1 if end > 0 and b"\0" not in data else SAMPLE_BYTES]
