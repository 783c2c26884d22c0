"""How long kebab takes to say the least it can say."""

from kebab.bench import yardsticks
from kebab.bench.bed import kebab_command
from kebab.bench.budget import ratio
from kebab.bench.ledger import Yardstick
from kebab.bench.race import steady
from kebab.bench.rig import Rig

_BUDGET = ratio(2.0)
_SCHEMA = ratio(3.0)


def measure(rig: Rig) -> None:
    """Enter the figures of help, version and schema."""
    contestants = [
        yardsticks.bare_python(),
        yardsticks.import_click(),
        steady("help", kebab_command("--help")),
        steady("version", kebab_command("--version")),
        steady("schema", kebab_command("schema", "--json")),
    ]
    samples = rig.race("start-up", rig.bed("startup"), contestants, rig.options.runs)
    click = Yardstick(yardsticks.CLICK, samples[yardsticks.CLICK])
    python = Yardstick(yardsticks.PYTHON, samples[yardsticks.PYTHON])
    rig.ledger.add("startup.python", "s", python.sample)
    rig.ledger.add("startup.import_click", "s", click.sample, against=python)
    rig.ledger.add("startup.help", "s", samples["help"], against=click, budget=_BUDGET)
    rig.ledger.add("startup.version", "s", samples["version"], against=click, budget=_BUDGET)
    rig.ledger.add("startup.schema", "s", samples["schema"], against=click, budget=_SCHEMA)
