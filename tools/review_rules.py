"""Applies the rules of a review to a folder, and shows their speed and a sample of findings.

No index and no model are used. Hidden folders are left out. The processor time of each part shows
what is slow; the wall time also depends on what else the machine does.

    python -m tools.review_rules FOLDER [--rules ID,…] [--sample N] [--seed S]
"""

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from kebab.app.review_surroundings import ReviewSurroundings
from kebab.app.review_text import build_review_text
from kebab.config.settings import Settings
from kebab.core.documentation import choose_documents
from kebab.core.media import detect_media_type
from kebab.core.review import Finding
from kebab.errors.signal import Signal
from kebab.review.document import ReviewDocument
from kebab.review.items import build_items
from kebab.review.rules.links import list_doubtful
from kebab.review.rules.registry import select_rules
from kebab.review.rules.rule import Rule

_MAX_BYTES = 20_000_000
_BEFORE, _AFTER = 120, 100
"""How many characters of its line are shown around a finding."""


@dataclass(slots=True)
class Outcome:
    """What the rules found in a folder, and the processor time by part."""

    files: int = 0
    size: int = 0
    refused: int = 0
    wall_s: float = 0.0
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    findings: Counter[str] = field(default_factory=Counter)
    doubtful: Counter[str] = field(default_factory=Counter)
    sample: list[tuple[str, str]] = field(default_factory=list)
    """Each finding as its line of place and reason, and the line of the text."""


def review_folder(root: Path, rules: Sequence[Rule], *, keep: bool = False) -> Outcome:
    """Apply the rules to every prose file of a folder; with `keep` the findings are shown too."""
    outcome = Outcome()
    surroundings = ReviewSurroundings(
        today=datetime.now(UTC).date(), stale_days=Settings().review.stale_days
    )
    begin = time.perf_counter()
    for path in _list_files(root):
        document = _read_document(path, root, outcome)
        if document is None:
            continue
        found = list(_apply_rules(document, rules, surroundings, outcome))
        started = time.process_time()
        doubtful = list_doubtful(document, found, surroundings)
        outcome.seconds["doubtful"] += time.process_time() - started
        outcome.doubtful.update(str(one.rule_id) for one in found if one.rule_id in doubtful)
        found = [one for one in found if one.rule_id not in doubtful]
        started = time.process_time()
        build_items(document, sorted(found, key=lambda one: one.start))
        outcome.seconds["items"] += time.process_time() - started
        outcome.findings.update(str(one.rule_id) for one in found)
        if keep:
            outcome.sample += [_show_finding(document, one) for one in found]
    outcome.wall_s = time.perf_counter() - begin
    return outcome


def _list_files(root: Path) -> list[Path]:
    files = [
        (inner.as_posix(), media)
        for inner in (path.relative_to(root) for path in root.rglob("*"))
        if (media := detect_media_type(inner.name)) is not None
        and not any(part.startswith(".") for part in inner.parts)
    ]
    return sorted(
        path for path in map(root.joinpath, choose_documents(files)) if _is_own(path, root)
    )


def _is_own(path: Path, root: Path) -> bool:
    """Return whether a path is that of a file, and no link to another file of the folder."""
    return path.is_file() and not (path.is_symlink() and path.resolve().is_relative_to(root))


def _read_document(path: Path, root: Path, outcome: Outcome) -> ReviewDocument | None:
    started = time.process_time()
    try:
        document = ReviewDocument(build_review_text(path, root, max_bytes=_MAX_BYTES))
    except Signal:
        outcome.refused += 1
        return None
    _ = document.prose, document.paragraphs  # the first rule would pay for them
    outcome.files += 1
    outcome.size += path.stat().st_size
    outcome.seconds["read"] += time.process_time() - started
    return document


def _apply_rules(
    document: ReviewDocument,
    rules: Sequence[Rule],
    surroundings: ReviewSurroundings,
    outcome: Outcome,
) -> Iterator[Finding]:
    for rule in rules:
        started = time.process_time()
        yield from list(rule.check(document, surroundings))
        outcome.seconds[rule.id] += time.process_time() - started


def _show_finding(document: ReviewDocument, finding: Finding) -> tuple[str, str]:
    text, start, end = document.text, finding.start, finding.end
    line, column = document.find_line(start)
    last = text.find("\n", end)
    first = max(text.rfind("\n", 0, start) + 1, start - _BEFORE)
    last = min(len(text) if last < 0 else last, end + _AFTER)
    marked = f"{text[first:start]}\u27e6{text[start:end]}\u27e7{text[end:last]}"
    place = f"{document.source.doc_path}:{line}:{column}"
    return f"{place} {finding.rule_id}: {finding.reason}", marked.replace("\n", "\u23ce")


def render_outcome(outcome: Outcome) -> str:
    """Return the figures as text."""
    total = sum(outcome.seconds.values())
    size = outcome.size / 1e6
    lines = [
        f"{outcome.files:,} files, {size:.1f} MB, {outcome.refused} refused",
        f"processor {total:.2f} s, {size / max(total, 1e-9):.1f} MB/s",
        f"wall {outcome.wall_s:.2f} s, {size / max(outcome.wall_s, 1e-9):.1f} MB/s",
        "",
        f"{'part':28} {'seconds':>8} {'findings':>9}",
    ]
    for part, seconds in sorted(outcome.seconds.items(), key=lambda one: -one[1]):
        lines.append(f"{part:28} {seconds:8.2f} {outcome.findings.get(part, 0):9,}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Print the sample and the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rules", help="ids, separated by commas")
    parser.add_argument("--sample", type=int, default=0, help="how many findings to show")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    rules = select_rules(given.rules.split(",") if given.rules else None, ())
    outcome = review_folder(given.folder.resolve(), rules, keep=given.sample > 0)
    chooser = random.Random(given.seed)  # noqa: S311 - a sample that can be repeated
    shown = chooser.sample(outcome.sample, min(given.sample, len(outcome.sample)))
    for number, (place, line) in enumerate(shown, 1):
        sys.stdout.write(f"[{number}] {place}\n    {line}\n")
    sys.stdout.write(render_outcome(outcome))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
