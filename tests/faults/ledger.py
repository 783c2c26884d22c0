"""What came of all faults, as a table."""

from collections import Counter
from dataclasses import dataclass, field

from kebab.errors.signal import Exit
from tests.faults.judge import Verdict


@dataclass(slots=True)
class Ledger:
    """The count of what was reported, and every promise that was broken."""

    codes: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    missed: int = 0
    """Faults whose call was not made in that run."""
    seconds: float = 0.0

    @property
    def injected(self) -> int:
        """How many faults there were."""
        return self.codes.total()

    def note(self, verdict: Verdict, family: str) -> None:
        """Count a run, and keep what it did wrong."""
        self.codes[verdict.code or _classify_outcome(verdict)] += 1
        self.families[family] += 1
        self.broken += [f"{verdict.name}: {one}" for one in verdict.broken]

    def table(self) -> list[str]:
        """Return how often each code was reported, and each port failed."""
        head = f"{self.injected} faults in {self.seconds:.0f} s, {len(self.broken)} broken promises"
        codes = [f"{count:6}  {code}" for code, count in self.codes.most_common()]
        families = (f"{name} {count}" for name, count in self.families.most_common())
        return [head, *codes, f"at {', '.join(families)}"]


def _classify_outcome(verdict: Verdict) -> str:
    if verdict.status == Exit.READER_GONE:
        return "(the reader went away)"
    return "(the result says so)" if verdict.flagged else "(no difference)"
