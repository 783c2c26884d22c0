import os
import shutil
import subprocess

import pytest

from kebab.errors.catalog import build_catalog
from tools.bindings.go import render_source
from tools.bindings.names import to_pascal_case

MEMBERS = {
    "Kind",
    "Canonical",
    "Domain",
    "Origin",
    "Exit",
    "HTTP",
    "GRPC",
    "Retry",
    "Retryable",
    "Backoff",
    "Severity",
    "Public",
    "Retired",
    "Reserved",
}


@pytest.fixture
def go(grammar):
    return grammar("tree_sitter_go")


def table(go):
    """Return the members of each row of `Rows` as they stand in the text."""
    rows: dict[str, dict[str, str]] = {}
    for element in go.nodes(render_source(), "keyed_element"):
        key, value = (one.text.decode() for one in element.named_children)
        if key.startswith("Code"):
            rows[key] = {}
        elif key in MEMBERS:
            rows[next(reversed(rows))][key] = value.strip('"')
    return rows


def test_the_text_is_go(go):
    assert go.faults(render_source()) == []


def test_a_text_that_is_none_is_found(go):
    assert go.faults(render_source().replace("type Row struct {", "type Row struct")) != []


def test_the_table_says_what_the_catalogue_says(go):
    def wanted(meaning):
        members = {
            "Kind": f"Kind{to_pascal_case(meaning.kind)}",
            "Canonical": f"Canonical{to_pascal_case(meaning.canonical)}",
            "Domain": meaning.domain,
            "Origin": f"Origin{to_pascal_case(meaning.origin)}",
            "Exit": str(meaning.exit.value),
            "HTTP": str(meaning.http),
            "GRPC": meaning.grpc,
            "Retry": f"Retry{to_pascal_case(meaning.retry)}",
            "Retryable": str(meaning.retry.value == "transient").lower(),
            "Severity": f"Severity{to_pascal_case(meaning.severity)}",
            "Public": str(meaning.public).lower(),
            "Retired": str(meaning.retired).lower(),
            "Reserved": str(meaning.reserved).lower(),
        }
        if advice := meaning.backoff:
            members["Backoff"] = (
                f"&Backoff{{FirstMS: {advice.first_ms}, Factor: {advice.factor:g},"
                f" CeilingMS: {advice.ceiling_ms}, Attempts: {advice.attempts}}}"
            )
        return members

    rows = {f"Code{to_pascal_case(code)}": wanted(row) for code, row in build_catalog().items()}
    assert table(go) == rows


def test_every_code_is_a_constant():
    text = " ".join(render_source().split())

    assert [
        code
        for code in build_catalog()
        if f'Code{to_pascal_case(code)} Code = "{code}"' not in text
    ] == []


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go on this machine")
def test_the_package_compiles(tmp_path):
    (tmp_path / "errors.go").write_text(render_source())
    (tmp_path / "go.mod").write_text("module example.com/kebab\n\ngo 1.21\n")
    settings = {"GOCACHE": str(tmp_path / "cache"), "GOTOOLCHAIN": "local"}

    done = subprocess.run(
        ["go", "vet", "."],
        cwd=tmp_path,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
