"""A record is declared once: a class that repeats a wire record has a reason."""

import ast
from itertools import product

import pytest

from tests.shape.tree import Module, list_modules

ALIKE = 0.6
"""The share of common fields, of all fields of both, from which a class repeats another."""
FEWEST = 3
"""Fields in common that are no coincidence."""
REASONS = {
    ("kebab.plugins.Plugin", "kebab.wire.health.PluginRow"): (
        "it names the object to import, and is a key of what was inspected"
    ),
    ("kebab.server.tools.Read", "kebab.wire.fetch.FetchRequest"): (
        "one reference may stand alone, and models read its schema"
    ),
    ("kebab.core.progress.Progress", "kebab.wire.ingest.IngestProgress"): (
        "long runs of other commands report it too, and it has no envelope"
    ),
    ("kebab.core.queries.Filters", "kebab.wire.search.FilteredRequest"): (
        "its dates are parsed, and it is hashable"
    ),
    ("kebab.review.document.Fix", "kebab.wire.review.ItemFix"): (
        "rules write it, and its text has other line ends than the file"
    ),
    ("kebab.doctor.checks.Finding", "kebab.wire.health.DoctorCheck"): (
        "it has no name and no duration before its step is over"
    ),
    ("kebab.ingest.job.TextNote", "kebab.wire.ingest.IngestTextRequest"): (
        "its text is decoded, and it names the folder of the file"
    ),
}


def list_fields(node: ast.ClassDef) -> frozenset[str]:
    """Return the names of the annotated fields of a class."""
    return frozenset(
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and "ClassVar" not in ast.unparse(one.annotation)
    )


def list_classes(module: Module) -> dict[str, frozenset[str]]:
    """Return the fields of each class of a module, by its full name."""
    found = [node for node in module.nodes if isinstance(node, ast.ClassDef)]
    return {f"{module.name}.{node.name}": list_fields(node) for node in found}


def find_alike(own: frozenset[str], wire: frozenset[str]) -> bool:
    """Return whether two classes have mostly the same fields."""
    common = len(own & wire)
    return common >= FEWEST and common >= ALIKE * len(own | wire)


@pytest.fixture(scope="module")
def repeats():
    """Pairs of a class and the wire record that it repeats."""
    found = {
        name: kept
        for module in list_modules("kebab")
        for name, kept in list_classes(module).items()
    }
    wire = {name: kept for name, kept in found.items() if name.startswith("kebab.wire.")}
    return {
        (own, record)
        for own, record in product(found.keys() - wire.keys(), wire)
        if find_alike(found[own], wire[record])
    }


def test_a_class_that_repeats_a_wire_record_has_a_reason(repeats):
    assert repeats - REASONS.keys() == set(), "return the wire record, or state the reason here"


def test_every_reason_is_still_needed(repeats):
    assert REASONS.keys() - repeats == set()
