import json

from kebab.app.audit import record
from kebab.app.classify import classify


def _noted(log, text="inner"):
    fault = ValueError(text)
    known = classify(fault, operation="ingest")
    record(fault, known, log)
    return known


def test_a_line_tells_what_the_public_view_leaves_out(tmp_path):
    log = tmp_path / "state" / "kebab.log"
    known = _noted(log)

    line = json.loads(log.read_text())

    assert line["correlation_id"] == known.reply.correlation_id
    assert line["chain"] == ["ValueError: inner"]
    assert log.stat().st_mode & 0o777 == 0o600


def test_lines_are_added_and_a_long_log_is_rotated(tmp_path):
    log = tmp_path / "kebab.log"
    _noted(log)
    _noted(log)
    assert len(log.read_text().splitlines()) == 2

    log.write_text("x" * 2_000_001)
    _noted(log)

    assert len(log.read_text().splitlines()) == 1
    assert (tmp_path / "kebab.log.1").exists()


def test_a_log_that_cannot_be_written_is_no_second_fault(tmp_path):
    (tmp_path / "file").write_text("")
    _noted(tmp_path / "file" / "kebab.log")

    assert (tmp_path / "file").read_text() == ""
