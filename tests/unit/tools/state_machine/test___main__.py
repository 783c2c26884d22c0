"""The program counts steps, and prints a divergence as a program that repeats it."""

import pytest

from tools.state_machine import __main__ as program
from tools.state_machine.machine import KnowledgeBase


@pytest.fixture
def arguments(monkeypatch):
    monkeypatch.setattr(KnowledgeBase, "counts", KnowledgeBase.counts.__class__())
    words = ["state_machine", "--steps", "4", "--length", "4", "--no-processes"]
    monkeypatch.setattr("sys.argv", words)


def test_steps_are_counted(arguments, capsys):
    assert program.main() == 0
    assert " steps in " in capsys.readouterr().out


def test_a_divergence_is_printed_as_a_program(arguments, capsys, monkeypatch):
    def fail(self):
        raise AssertionError("too many documents")

    monkeypatch.setattr(KnowledgeBase, "_check_documents", fail)

    assert program.main() == 1
    out = capsys.readouterr().out
    assert "AssertionError: too many documents" in out
    assert "from tools.state_machine.machine import *" in out
    assert "state = KnowledgeBase()" in out
