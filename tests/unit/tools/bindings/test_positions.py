"""The helpers for positions do the same in every language; `test_offsets.py` has the same cases."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.bindings.positions import GO, TYPESCRIPT

CASES = json.loads(
    (Path(__file__).parents[3] / "cases" / "offsets.json").read_text(encoding="utf-8")
)
WANTED = [[one["code_points"], one["bytes"], one["start"], one["end"]] for one in CASES]
TYPES = {"type_annotation", "type_alias_declaration"}
CALL_TYPESCRIPT = """
const cases = JSON.parse((await import("node:fs")).readFileSync(process.argv[2], "utf-8"));
console.log(JSON.stringify(cases.map(({ text, range }) => [
  toCodePoints(text, range),
  toBytes(text, range),
  toLineColumn(text, range[0]),
  toLineColumn(text, range[1]),
])));
"""
CALL_GO = """\
package kebab

import (
	"encoding/json"
	"os"
	"testing"
)

func TestCases(t *testing.T) {
	data, _ := os.ReadFile("cases.json")
	var cases []struct {
		Text  string
		Range [2]int
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	found := [][4][2]int{}
	for _, one := range cases {
		units := Range{one.Range[0], one.Range[1]}
		runes, bytes := ToRunes(one.Text, units), ToBytes(one.Text, units)
		line, column := ToLineColumn(one.Text, units.Start)
		lastLine, lastColumn := ToLineColumn(one.Text, units.End)
		found = append(found, [4][2]int{
			{runes.Start, runes.End},
			{bytes.Start, bytes.End},
			{line, column},
			{lastLine, lastColumn},
		})
	}
	written, _ := json.Marshal(found)
	if err := os.WriteFile("found.json", written, 0o644); err != nil {
		t.Fatal(err)
	}
}
"""


@pytest.fixture
def typescript(grammar):
    return grammar("tree_sitter_typescript", "language_typescript")


@pytest.fixture
def go(grammar):
    return grammar("tree_sitter_go")


def drop_types(typescript, text):
    """Return TypeScript as JavaScript: what says types is left out."""
    data = text.encode()
    nodes = [node for kind in TYPES for node in typescript.nodes(text, kind)]
    for node in sorted(nodes, key=lambda one: -one.start_byte):
        outer = node.parent if node.parent.type == "export_statement" else node
        data = data[: outer.start_byte] + data[outer.end_byte :]
    return data.decode()


def test_the_texts_are_typescript_and_go(typescript, go):
    assert typescript.faults(TYPESCRIPT) == []
    assert go.faults(GO) == []


@pytest.mark.skipif(shutil.which("node") is None, reason="no `node` on this machine")
def test_typescript_does_what_the_cases_say(typescript, tmp_path):
    (tmp_path / "call.mjs").write_text(drop_types(typescript, TYPESCRIPT) + CALL_TYPESCRIPT)

    done = subprocess.run(
        [
            "node",
            tmp_path / "call.mjs",
            (Path(__file__).parents[3] / "cases" / "offsets.json").absolute(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == WANTED


@pytest.mark.skipif(shutil.which("tsc") is None, reason="no `tsc` on this machine")
def test_typescript_compiles(tmp_path):
    (tmp_path / "positions.ts").write_text(TYPESCRIPT)

    done = subprocess.run(
        [
            "tsc",
            "--noEmit",
            "--strict",
            "--target",
            "es2020",
            "--lib",
            "es2020,dom",
            "positions.ts",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go on this machine")
def test_go_does_what_the_cases_say(tmp_path):
    shutil.copy("tests/cases/offsets.json", tmp_path / "cases.json")
    (tmp_path / "positions.go").write_text(GO)
    (tmp_path / "positions_test.go").write_text(CALL_GO)
    (tmp_path / "go.mod").write_text("module example.com/kebab\n\ngo 1.21\n")
    settings = {"GOCACHE": str(tmp_path / "cache"), "GOTOOLCHAIN": "local"}

    done = subprocess.run(
        ["go", "test", "."],
        cwd=tmp_path,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "found.json").read_text()) == WANTED
