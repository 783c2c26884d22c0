"""Every surface and every test double covers the registry of operations."""

import ast
from pathlib import Path

from kebab.cli.commands.schema import iterate_commands
from kebab.wire.json_schema import get_schema_name
from kebab.wire.operations import OPERATIONS
from tests.contract.conftest import load_validators
from tests.faults import session
from tests.shape.tree import ROOT

ABOVE = {
    "chat": "asks one question after another",
    "watch": "runs one ingest after another",
    "completion": "prints a script for a shell",
    "help": "shows pages of the installation, not of a knowledge base",
    "install": "writes a file of another program",
    "mcp": "serves many operations to an agent",
    "open": "runs an editor on what `fetch` finds",
    "serve": "runs other commands",
    "eval": "asks many searches",
}
"""Commands that are no operation: they stand above the facade."""

BY_A_FLAG = {name for name, one in OPERATIONS.items() if one.flag_of}
"""Operations that a flag of another command runs."""

KNOWN = session.Names(notes=Path("notes"), document="a.md", chunk="c", text="t.txt")


def list_requests(path):
    """Return the names of the request records that a module refers to."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id.endswith("Request")
    }


def test_a_request_is_named_after_its_operation():
    names = {name: get_schema_name(one.request) for name, one in OPERATIONS.items()}

    assert names == {name: f"{name}_request.v1" for name in OPERATIONS}


def test_every_record_of_an_operation_has_a_published_schema():
    records = {
        get_schema_name(one)
        for known in OPERATIONS.values()
        for one in (known.request, *known.replies, *filter(None, [known.events]))
    }

    assert records <= load_validators().keys()


def test_every_command_is_an_operation_and_every_operation_a_command():
    paths = {path for path, _ in iterate_commands()} - ABOVE.keys()

    assert {path.replace(" ", "_") for path in paths} == OPERATIONS.keys() - BY_A_FLAG


def test_commands_send_every_request():
    files = (ROOT / "kebab" / "cli").rglob("*.py")

    assert set().union(*map(list_requests, files)) >= {
        one.request.__name__ for one in OPERATIONS.values()
    }


def test_the_fault_session_runs_every_operation_but_those_named():
    run = {one.label.replace(" ", "_") for one in session.list_commands(KNOWN)}

    elsewhere = {name.replace(" ", "_") for name in session.ELSEWHERE}
    assert OPERATIONS.keys() - run == elsewhere | BY_A_FLAG


def test_every_operation_has_golden_results():
    kept = {one.name for one in (ROOT / "tests" / "golden" / "kept").iterdir()}

    assert OPERATIONS.keys() - kept == BY_A_FLAG


def test_long_operations_can_be_cancelled():
    assert {name for name, one in OPERATIONS.items() if one.cancellable} == {
        "ingest",
        "ingest_text",
        "model_pull",
        "model_use",
        "repair",
        "review",
        "translate",
    }
    assert all(one.events for one in OPERATIONS.values() if one.cancellable)
