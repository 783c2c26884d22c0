"""What else is done with a knowledge base of one size: looked over again, examined, wiped."""

from kebab.bench import yardsticks
from kebab.bench.bed import kebab_command
from kebab.bench.grown import Grown
from kebab.bench.ledger import Yardstick
from kebab.bench.library import changed, ingest_command
from kebab.bench.process import Outcome
from kebab.bench.race import Contestant, Sample, failed, steady
from kebab.bench.rig import Rig

_TURNS = 3
_UNHEALTHY = 3


def measure(rig: Rig, grown: Grown) -> None:
    """Enter a second ingest, a look at its health, and a reset; nothing is left afterwards."""
    again = Contestant(
        name="noop",
        command=lambda _: ingest_command(grown.corpus),
        fault=lambda outcome: changed(outcome, grown.corpus),
    )
    doctor = Contestant(
        name="doctor", command=lambda _: kebab_command("doctor", "--json"), fault=_examined
    )
    schema = steady("schema", kebab_command("schema", "--json"))
    contestants = [yardsticks.stat_files(grown.corpus.folder), again, schema, doctor]
    samples = rig.race("upkeep", grown.bed, contestants, min(_TURNS, rig.options.runs))
    stat = Yardstick(yardsticks.STAT, samples[yardsticks.STAT])
    add, chunks = rig.ledger.add, grown.chunks
    add("growth.noop", "s", samples["noop"], against=stat, chunks=chunks)
    add("growth.schema", "s", samples["schema"], chunks=chunks)
    add("growth.doctor", "s", samples["doctor"], chunks=chunks)
    outcome = grown.bed.run(kebab_command("reset", "--yes", "--json"))
    add("growth.reset", "s", Sample([outcome.seconds], failed(outcome)), chunks=chunks)


def _examined(outcome: Outcome) -> str | None:
    """Return why an examination does not count; one that finds a fault does, as one was made."""
    return None if outcome.status == _UNHEALTHY else failed(outcome)
