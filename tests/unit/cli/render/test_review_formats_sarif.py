import json
from pathlib import Path

import jsonschema
import pytest

from kebab.app.review_text import ItemLocator
from kebab.cli.render.review import ReviewTally
from kebab.cli.render.review_formats import SarifLog
from kebab.review.rules.registry import RULES, describe_rule
from kebab.wire.review import UnansweredText
from kebab.wire.search import DegradedChannel
from tests.fakes.review_pages import item, page, reviewed
from tests.shape.tree import ROOT

SCHEMA = json.loads((ROOT / "tests/cases/sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
TEXT = "one\r\n👩 worng\r\n"


@pytest.fixture
def document(tmp_path):
    file = tmp_path / "한 b.md"
    file.write_bytes(TEXT.encode())
    return reviewed(file)


def build(*pages, root):
    log, tally = SarifLog([describe_rule(rule) for rule in RULES], root), ReviewTally()
    for one in pages:
        tally.add(one)
        log.add(one, ItemLocator().locate(one))
    return json.loads("\n".join(log.render(tally)))


def check(log):
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    return log["runs"][0]


def test_what_was_not_reviewed_is_a_notification(document, tmp_path):
    lost = DegradedChannel(channel="llm", reason="connection refused", hint=None)
    part = UnansweredText(file=document.file, i=(0, 1), lines=(1, 2))
    found = page(document, degraded=[lost], unanswered=[part], unanswered_count=1)
    (invocation,) = check(build(found, root=tmp_path))["invocations"]

    assert invocation["executionSuccessful"] is False
    first, second = invocation["toolExecutionNotifications"]
    assert first["message"]["text"] == "connection refused"
    region = second["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 1, "endLine": 2}


def test_a_finding_has_its_region_in_utf16_columns(document, tmp_path):
    found = item(document, 6, 11, rule_id=RULES[0].id)
    run = check(build(page(document, found), root=tmp_path))
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]

    assert (result["ruleId"], result["ruleIndex"], result["level"]) == (RULES[0].id, 0, "error")
    assert run["columnKind"] == "utf16CodeUnits"
    assert place["region"] == {"startLine": 2, "startColumn": 4, "endLine": 2, "endColumn": 9}
    assert place["artifactLocation"] == {"uri": "%ED%95%9C%20b.md", "uriBaseId": "%SRCROOT%"}


def test_kinds_of_the_model_become_rules(document, tmp_path):
    run = check(build(page(document, item(document, 6, 11)), root=tmp_path))
    (result,) = run["results"]

    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "spelling"


def test_files_elsewhere_have_whole_addresses(document, tmp_path):
    found = page(document, item(document, 6, 11))
    (result,) = check(build(found, root=tmp_path / "elsewhere"))["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]

    assert place == {"uri": Path(document.file).as_uri()}


def test_a_changed_file_has_no_region(document, tmp_path):
    found = page(document, item(document, 6, 11))
    Path(document.file).write_text("other", encoding="utf-8")
    (result,) = check(build(found, root=tmp_path))["results"]

    assert "region" not in result["locations"][0]["physicalLocation"]
