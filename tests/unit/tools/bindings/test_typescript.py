import shutil
import subprocess

import pytest
from msgspec import UnsetType

from kebab.errors.catalog import Op, build_catalog
from tools.bindings.typescript import format_type, render_source

CLIENT = """\
import { ERRORS, isErrorCode, type KebabError } from "./errors.js";

export function told(error: KebabError): string {
  if (error.code === "not_indexed") {
    const found: number | null = error.details.found;
    // @ts-expect-error - another code has this detail
    return String(found) + error.details.holder_pid;
  }
  if (error.code === "generic") {
    return error.details.chain?.join() ?? error.kind.toUpperCase();
  }
  return isErrorCode(error.code) ? ERRORS[error.code].domain : "unknown";
}

export const exit: 3 = ERRORS.not_indexed.exit;
"""


@pytest.fixture
def typescript(grammar):
    return grammar("tree_sitter_typescript", "language_typescript")


def literal(text):
    known = {"true": True, "false": False, "null": None}
    if text in known:
        return known[text]
    return text.strip('"') if text.startswith('"') else text


def table(typescript):
    """Return the rows of `ERRORS` as they stand in the text."""
    found = {}
    for pair in typescript.nodes(render_source(), "pair"):
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if value.type == "object" and key.text.decode() in build_catalog():
            members = [one for one in value.children if one.type == "pair"]
            found[key.text.decode()] = {
                one.child_by_field_name("key").text.decode(): literal(
                    one.child_by_field_name("value").text.decode()
                )
                for one in members
            }
    return found


def test_the_text_is_typescript(typescript):
    assert typescript.faults(render_source()) == []


def test_a_text_that_is_none_is_found(typescript):
    assert typescript.faults(render_source().replace("export type Kind =", "export type =")) != []


def test_the_table_says_what_the_catalogue_says(typescript):
    def words(advice):
        return advice and (
            f"{{ firstMs: {advice.first_ms}, factor: {advice.factor:g},"
            f" ceilingMs: {advice.ceiling_ms}, attempts: {advice.attempts} }}"
        )

    assert table(typescript) == {
        code: {
            "kind": row.kind.value,
            "canonical": row.canonical.value,
            "domain": row.domain,
            "origin": row.origin.value,
            "exit": str(row.exit.value),
            "http": str(row.http),
            "grpc": row.grpc,
            "retry": row.retry.value,
            "retryable": row.retry.value == "transient",
            "backoff": words(row.backoff),
            "severity": row.severity.value,
            "public": row.public,
            "retired": row.retired,
            "reserved": row.reserved,
        }
        for code, row in build_catalog().items()
    }


def test_every_code_is_a_member_of_the_union():
    text = render_source()

    assert [code for code in build_catalog() if f'  | ErrorOf<"{code}", ' not in text] == []


@pytest.mark.parametrize(
    ("form", "written"),
    [
        (str, "string"),
        (int | None, "number | null"),
        (list[str], "readonly string[]"),
        (Op, '"read" | "write" | "create"'),
        (bool | UnsetType, "boolean"),
    ],
)
def test_a_type_of_a_detail_has_its_name(form, written):
    assert format_type(form) == written


def test_a_type_without_a_name_is_refused():
    with pytest.raises(TypeError, match="no TypeScript"):
        format_type(bytes)


@pytest.mark.skipif(shutil.which("tsc") is None, reason="no `tsc` on this machine")
def test_a_client_compiles_and_sees_the_details_of_each_code(tmp_path):
    (tmp_path / "errors.ts").write_text(render_source())
    (tmp_path / "client.ts").write_text(CLIENT)
    (tmp_path / "package.json").write_text('{"type": "module"}')

    done = subprocess.run(
        ["tsc", "--noEmit", "--strict", "--module", "nodenext", "client.ts"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "")
