import json

import pytest

from kebab.cli.commands.translate import render_findings
from kebab.review.items import ItemLocator
from kebab.wire.review import TranslatedText
from tests.fakes import review_pages


@pytest.fixture
def note(home, monkeypatch):
    monkeypatch.chdir(home)
    file = home / "a.md"
    file.write_text("# Doors of it\n", encoding="utf-8")
    return file


def requests(opened):
    return [request for known in opened for what, request in known.asked if what == "translate"]


def test_flags_reach_the_library(kebab, note, opened):
    kebab("translate", "a.md", "--to", "ko", "-n", "5", "--model", "m", "--json")

    (request,) = requests(opened)
    assert (request.name, request.to, request.limit) == ("a.md", "ko", 5)
    assert (request.model, request.all_pages, request.with_text) == ("m", False, False)


def test_text_is_the_document_and_findings_are_on_stderr(kebab, note, opened):
    ran = kebab("translate", "a.md", "--to", "ko", "--fail-on", "never")

    assert (ran.status, ran.out) == (0, "# 문\n")
    assert "a.md:1:1: error: the source text stays [untranslated]" in ran.err
    assert "1 of 2 segments translated, 1 finding" in ran.err
    assert "[translation]" not in ran.err
    (request,) = requests(opened)
    assert (request.all_pages, request.with_text) == (True, True)


def test_an_interrupted_translation_says_how_to_go_on(kebab, home, note):
    (home / "late.md").write_text("# Doors of it\n", encoding="utf-8")
    ran = kebab("translate", "late.md", "--to", "ko")

    assert (ran.status, ran.out) == (130, "")
    assert "kebab translate --run-id" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("a.md",),
        ("a.md", "--to", "ko", "--run-id", "r"),
        ("a.md", "--to", "ko", "--cursor", "c"),
    ],
)
def test_flags_that_make_no_sense_are_refused(kebab, note, opened, words):
    ran = kebab("translate", *words)

    assert (ran.status, ran.out, "pATH" in ran.err) == (2, "", False)
    assert requests(opened) == []


def test_findings_are_kept_and_translated_segments_are_none(tmp_path):
    file = tmp_path / "a.md"
    file.write_text("One word.\n", encoding="utf-8")
    document = review_pages.reviewed(file)
    items = [
        review_pages.item(document, 0, 3, kind=kind, severity="suggestion", reason="r")
        for kind in ("translation", "number")
    ]
    left_out = review_pages.item(document, 4, 8, kind="structure", reason="r")
    text = TranslatedText(text="", segments=1, translated=0, findings=[left_out])
    page = review_pages.page(document, *items, translation=text)

    assert [line.partition(": ")[2] for line in render_findings(page, ItemLocator())] == [
        "suggestion: r [number]",
        "error: r [structure]",
    ]


def test_json_prints_the_page(kebab, note):
    ran = kebab("translate", "a.md", "--to", "ko", "--json")

    reply = json.loads(ran.out)
    assert (ran.status, reply["exit_code"]) == (1, 1)
    assert reply["schema_version"] == "agent_items.v2"
    assert "translation" not in reply
