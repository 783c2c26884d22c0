"""Commands run as on Windows and macOS, without what Linux alone has; `tools.other_systems` runs
more of them, each in a process of its own."""

import pytest

from tools.other_systems.__main__ import WINDOWS_STEPS, Step, make_world, run_in_one_process
from tools.other_systems.stubs import SYSTEMS

STEPS = (
    Step(("init",)),
    Step(("ingest", "formats/report.pdf", "notes", "--json"), '"errors":0'),
    Step(("ingest", "notes", "--json"), '"unchanged":2'),
    Step(("search", "sourdough", "--mode", "lexical", "--json"), '"doc_path":"bread.md"'),
    Step(("fetch", "bread.md:3"), "Sourdough needs time."),
    Step(("grep", "(needs?)+.*time"), "bread.md:3"),
    Step(("ask", "--extractive", "how hot is green tea"), "80 degrees"),
    Step(("list",), "tea.md"),
    Step(("review", "notes"), "bread.md"),
    Step(("doctor",), "off on this system"),
    Step(("rm", "bread.md"), "1 document"),
    Step(("search", "--nonsense"), "usage_invalid", 2),
    Step(("reset", "--yes"), "freed"),
)


@pytest.mark.parametrize("system", SYSTEMS)
def test_commands_need_nothing_that_the_system_lacks(system):
    paths = WINDOWS_STEPS if system == "win32" else ()
    with make_world(system) as world:
        faults = run_in_one_process(world, (*STEPS[:3], *paths, *STEPS[3:]))
        left = list(world.data.glob("*"))

    assert not list(filter(None, faults))
    assert not left
