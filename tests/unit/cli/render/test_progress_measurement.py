import os

import pytest

from kebab.cli.channels import OutputChannel
from kebab.cli.render.progress import MeasurementLine
from kebab.wire.evals import BenchProgress, EvalProgress


@pytest.mark.parametrize("form", [BenchProgress, EvalProgress])
def test_without_a_terminal_each_step_is_one_line(form):
    reading, writing = os.pipe()
    lines = MeasurementLine(OutputChannel(writing, "<stderr>"))

    for name, done in (("search", 0), ("search", 1), ("embedding", 0)):
        lines(form(name=name, done=done, total=2, elapsed_ms=3000))
    lines.end()
    os.close(writing)

    with os.fdopen(reading) as told:
        assert told.read() == "search, 3 s\nembedding, 3 s\n"
