import shutil
import subprocess

import pytest

from kebab.errors.catalog import build_catalog
from tools.bindings.java import render_source


@pytest.fixture
def java(grammar):
    return grammar("tree_sitter_java")


def table(java):
    """Return the arguments of each row of `Code` as they stand in the text."""
    found = {}
    for constant in java.nodes(render_source(), "enum_constant"):
        values = constant.child_by_field_name("arguments").named_children
        if len(values) > 1:
            row = values[1].child_by_field_name("arguments").named_children
            found[values[0].text.decode().strip('"')] = [
                one.text.decode().strip('"') for one in row if one.type != "block_comment"
            ]
    return found


def test_the_text_is_java(java):
    assert java.faults(render_source()) == []


def test_a_text_that_is_none_is_found(java):
    assert java.faults(render_source().replace("public record Row(", "public record Row")) != []


def test_the_table_says_what_the_catalogue_says(java):
    def wanted(meaning):
        advice = meaning.backoff
        words = advice and (
            f"Optional.of(new Backoff({advice.first_ms}, {advice.factor:.1f},"
            f" {advice.ceiling_ms}, {advice.attempts}))"
        )
        return [
            f"Kind.{meaning.kind.name}",
            f"Canonical.{meaning.canonical.value}",
            meaning.domain,
            f"Origin.{meaning.origin.name}",
            str(meaning.exit.value),
            str(meaning.http),
            meaning.grpc,
            f"Retry.{meaning.retry.name}",
            str(meaning.retry.value == "transient").lower(),
            words or "Optional.empty()",
            f"Severity.{meaning.severity.name}",
            str(meaning.public).lower(),
            str(meaning.retired).lower(),
            str(meaning.reserved).lower(),
        ]

    assert table(java) == {code: wanted(row) for code, row in build_catalog().items()}


@pytest.mark.skipif(shutil.which("javac") is None, reason="no Java compiler on this machine")
def test_the_class_compiles(tmp_path):
    (tmp_path / "Errors.java").write_text(render_source())

    done = subprocess.run(
        ["javac", "-Xlint:all", "-Werror", "-d", "classes", "Errors.java"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
