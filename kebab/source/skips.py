"""What a scan left out, counted by reason so that nothing vanishes without a word."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from kebab.text.normalize import escape_undecodable

EXAMPLES = 3
"""How many names of one reason are remembered."""


@dataclass(slots=True)
class Skips:
    """Counts by reason and by suffix, with the first few names of each reason."""

    by_reason: Counter[str] = field(default_factory=Counter)
    by_extension: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, path: str) -> None:
        """Count one entry that was left out."""
        self.by_reason[reason] += 1
        names = self.examples.setdefault(reason, [])
        if len(names) < EXAMPLES:
            names.append(escape_undecodable(path))

    def merge(self, other: "Skips") -> None:
        """Add what another scan left out."""
        self.by_reason.update(other.by_reason)
        self.by_extension.update(other.by_extension)
        for reason, path in other.each_example():
            names = self.examples.setdefault(reason, [])
            if len(names) < EXAMPLES:
                names.append(path)

    def each_example(self) -> Iterator[tuple[str, str]]:
        """Yield (reason, name) of every remembered example."""
        for reason, names in self.examples.items():
            for name in names:
                yield reason, name

    @property
    def total(self) -> int:
        """How many entries were left out."""
        return sum(self.by_reason.values())
