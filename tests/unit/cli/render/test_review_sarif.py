import json
from pathlib import Path

import jsonschema
import pytest

from kebab.cli.render.review import ReviewTally, SarifLog
from kebab.review.items import ItemLocator
from kebab.review.selection import RULES
from kebab.wire.search import DegradedChannel
from tests.fakes.review_pages import item, page, reviewed
from tests.shape.tree import ROOT

SCHEMA = json.loads((ROOT / "tests/cases/sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
TEXT = "one\r\n👩 worng\r\n"


@pytest.fixture
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "한 b.md"
    file.write_bytes(TEXT.encode())
    return reviewed(file)


def build(*pages):
    log, tally = SarifLog(), ReviewTally()
    for one in pages:
        tally.add(one)
        log.add(one, ItemLocator().locate(one))
    return json.loads("\n".join(log.render(tally)))


def check(log):
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    return log["runs"][0]


def test_what_was_not_reviewed_is_a_notification(document):
    lost = DegradedChannel(channel="llm", reason="connection refused", hint=None)
    found = page(document, degraded=[lost], unanswered_count=1)
    (invocation,) = check(build(found))["invocations"]

    assert invocation["executionSuccessful"] is False
    (told,) = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "connection refused"


def test_a_finding_has_its_region_in_utf16_columns(document):
    found = item(document, 6, 11, rule_id=RULES[0].id)
    run = check(build(page(document, found)))
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]

    assert (result["ruleId"], result["ruleIndex"], result["level"]) == (RULES[0].id, 0, "error")
    assert run["columnKind"] == "utf16CodeUnits"
    assert place["region"] == {"startLine": 2, "startColumn": 4, "endLine": 2, "endColumn": 9}
    assert place["artifactLocation"] == {"uri": "%ED%95%9C%20b.md", "uriBaseId": "%SRCROOT%"}


def test_kinds_of_the_model_become_rules(document):
    run = check(build(page(document, item(document, 6, 11))))
    (result,) = run["results"]

    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "spelling"


def test_files_elsewhere_have_whole_addresses(document, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = page(document, item(document, 6, 11))
    (result,) = check(build(found))["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]

    assert place == {"uri": Path(document.file).as_uri()}


def test_a_changed_file_has_no_region(document):
    found = page(document, item(document, 6, 11))
    Path(document.file).write_text("other", encoding="utf-8")
    (result,) = check(build(found))["results"]

    assert "region" not in result["locations"][0]["physicalLocation"]
