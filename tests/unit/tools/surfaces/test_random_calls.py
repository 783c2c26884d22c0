"""Random calls are counted, and what breaks the contract is reported."""

import pytest

from kebab.wire.operations import REMOTE_OPERATIONS
from tools.surfaces.clients import BrokenAnswerError, CommandClient, Output, Result
from tools.surfaces.random_calls import make_command_line, send_command_lines, send_requests
from tools.surfaces.random_requests import RequestMaker

REPLY = {"schema_version": "doctor.v1"}


class FakeHome:
    """Counts how often its state is put back."""

    def __init__(self):
        self.restored = 0

    def list_words(self):
        return {}

    def restore(self):
        self.restored += 1


class FakeSurface:
    """Answers every request with the same object."""

    def __init__(self, reply, status=0):
        self.result = Result(reply, status)
        self.asked = []

    def ask(self, operation, raw):
        self.asked.append(operation)
        assert isinstance(raw, bytes)
        return self.result


@pytest.fixture
def home():
    return FakeHome()


def test_every_operation_is_asked_in_turn_and_changes_are_undone(home):
    surface = FakeSurface(REPLY)

    findings = send_requests(surface, home, len(REMOTE_OPERATIONS), 1)

    assert surface.asked == [*REMOTE_OPERATIONS]
    assert findings.answers == {"doctor.v1": len(REMOTE_OPERATIONS)}
    assert findings.faults == []
    assert home.restored == sum(one.effect != "reads" for one in REMOTE_OPERATIONS.values())


def test_an_unexpected_error_is_a_fault(home):
    reply = {"schema_version": "error.v1", "code": "generic"}

    findings = send_requests(FakeSurface(reply, 2), home, 2, 1)

    assert findings.answers == {"generic": 2}
    assert len(findings.faults) == 2


def test_an_answer_that_breaks_the_contract_is_a_fault(home):
    class Broken:
        def ask(self, operation, raw):
            raise BrokenAnswerError(operation)

    findings = send_requests(Broken(), home, 1, 1)

    assert findings.faults == ["search: search"]


def test_command_lines_are_run_and_counted(home):
    findings = send_command_lines(CommandClient(lambda _: Output(0, b"", b"")), home, 5, 1)

    assert len(findings.faults) == 5


def test_some_command_lines_are_broken_and_none_has_a_nul():
    maker = RequestMaker(1, {})
    lines = [make_command_line(maker, "search").arguments for _ in range(200)]

    assert any("--no-such" in line or "--limit=x" in line for line in lines)
    assert any(line[:1] == ("search",) for line in lines)
    assert not [word for line in lines for word in line if "\0" in word]
