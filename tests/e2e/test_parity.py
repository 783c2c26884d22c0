"""The command line answers every request with the object of the dispatcher.

`tests/e2e/comparison.py` lists what may differ, with its reason.
"""

import os

import pytest

from kebab.wire.operations import OPERATIONS
from tests.e2e.comparison import check_lines, compare_lines, run_here
from tests.e2e.conftest import ROOT
from tests.e2e.parity import CASES, list_cases
from tools.surfaces.clients import CommandClient, LibraryClient, run_process
from tools.surfaces.random_calls import send_command_lines, send_requests

RANDOM = 2 * len(OPERATIONS)
"""How many random requests a test sends; `python -m tools.surfaces.random_calls` sends more."""


def test_cases_are_those_of_operations():
    assert CASES.keys() <= OPERATIONS.keys()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_command_line_answers_as_the_dispatcher(world, reference, operation):
    assert check_lines(CommandClient(run_here), world, reference, operation)


@pytest.mark.parametrize("operation", ["search", "fetch", "ask"])
def test_a_cold_process_answers_as_the_dispatcher(world, reference, operation):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    client = CommandClient(lambda line: run_process(line, environment, world.folder))
    ((position, one), *_) = enumerate(list_cases(operation))

    found = world.ask(client, operation, one)

    assert not compare_lines(operation, reference(operation, position, one), found, broken=False)


def test_random_requests_get_answers_that_conform(world):
    findings = send_requests(LibraryClient(), world, RANDOM, 11)

    assert findings.faults == []


def test_random_command_lines_get_answers_that_conform(world):
    findings = send_command_lines(CommandClient(run_here), world, RANDOM, 12)

    assert findings.faults == []
