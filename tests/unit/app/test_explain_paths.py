import os

import pytest

from kebab.app.explain_paths import explain_paths
from kebab.wire.library import ExplainPathsRequest
from tests.fakes.placed import register_formats


@pytest.fixture
def shelf(desk, monkeypatch):
    register_formats(monkeypatch)
    desk.write("a.md", "# Garden\n\nRoses.\n")
    desk.write("paper.pages", "one\ftwo")
    desk.write(".gitignore", "*.ign\n")
    desk.write("b.ign", "x")
    desk.write("c.one", "x")
    desk.write("node_modules/d.md", "x")
    desk.write(".hidden.md", "x")
    desk.write(".env", "A=1")
    desk.write("dist/e.md", "x")
    desk.write("package.json", "{}")
    desk.write("deep/e.md", "x")
    (desk.notes / "outside.md").symlink_to(desk.folder / "elsewhere.md")
    (desk.folder / "elsewhere.md").write_text("x")
    (desk.notes / "broken.md").symlink_to("nowhere")
    desk.ingest()
    return desk


def explain(desk, name, **flags):
    request = ExplainPathsRequest(paths=[str(desk.notes / name)])
    (found,) = explain_paths(desk.context(**flags), request).paths
    return found


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("b.ign", "ignored"),
        ("c.one", "unsupported"),
        ("node_modules/d.md", "excluded"),
        (".env", "secret"),
        ("dist/e.md", "generated"),
        ("outside.md", "symlink_outside"),
        ("broken.md", "symlink_broken"),
        ("nothing.md", "missing"),
        ("../elsewhere.md", "no_source"),
    ],
)
def test_a_file_is_out_for_the_reason_of_the_ingest(shelf, name, reason):
    found = explain(shelf, name)

    assert (found.included, found.reason) == (False, reason)
    assert found.message
    skipped = shelf.again().skipped_by_reason
    assert reason in skipped or reason in {"missing", "no_source"}


def test_the_rule_and_the_next_step_are_named(shelf):
    ignored, unread = explain(shelf, "b.ign"), explain(shelf, "c.one")

    assert ignored.rule is not None
    assert (ignored.rule.file, ignored.rule.line) == (str(shelf.notes / ".gitignore"), 1)
    assert ignored.hint == f"kebab ingest {shelf.notes / 'b.ign'}"
    assert unread.message == "kebab does not read this format: OneNote section"
    assert unread.hint == "export it as PDF or DOCX"


def test_a_file_that_the_user_named_is_in_although_a_rule_names_it(shelf):
    shelf.write("x.ign.md", "x")
    shelf.write(".gitignore", "*.ign.md\n")
    assert explain(shelf, "x.ign.md").reason == "ignored"
    shelf.ingest(shelf.notes / "x.ign.md")

    assert explain(shelf, "x.ign.md").included is True


def test_a_changed_file_is_in_and_read_at_the_next_ingest(shelf):
    shelf.write("a.md", "# Changed\n\nMore.\n")
    shelf.write("new.md", "new")
    changed, new = explain(shelf, "a.md"), explain(shelf, "new.md")

    assert (changed.message, new.message) == (
        "it has changed since it was read",
        "it is not read yet",
    )
    assert changed.hint == f"kebab ingest {shelf.notes / 'a.md'}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_unreadable(shelf):
    (shelf.notes / "a.md").chmod(0)

    assert explain(shelf, "a.md").reason == "unreadable"


def test_an_image_names_the_setting_that_reads_it(shelf):
    shelf.write("scan.png", "x")

    off = explain(shelf, "scan.png")
    on = explain(shelf, "scan.png", ingest__ocr=True)

    assert (off.included, off.reason, off.hint) == (
        False,
        "ocr_off",
        "export KEBAB_INGEST_OCR=true",
    )
    assert off.rule is not None
    assert off.rule.setting == "ingest.ocr"
    assert on.error is not None
    assert on.error.details["cause"] == "not a picture"
