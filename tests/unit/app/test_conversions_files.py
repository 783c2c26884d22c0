import pytest

from kebab.app.conversions import (
    check_freshness,
    format_timestamp,
    parse_time,
)
from kebab.core.documents import StoredDocument
from kebab.core.ids import DocId
from kebab.errors.catalog import InvalidInput


def _document(source, root, path, size=0, mtime_ns=0):
    return StoredDocument(
        doc_id=DocId("d"),
        source=source,
        root=root,
        path=path,
        title="",
        media="text/markdown",
        lang=None,
        tags=(),
        size=size,
        mtime_ns=mtime_ns,
        indexed_at=0.0,
        chunks=1,
        warnings=(),
    )


def test_freshness_changes_with_the_file(tmp_path):
    file = tmp_path / "a.md"
    file.write_text("x")
    seen = file.stat()

    def now():
        return check_freshness(
            _document("work", str(tmp_path), "a.md", seen.st_size, seen.st_mtime_ns)
        )

    assert now() == "fresh"
    file.write_text("longer")
    assert now() == "changed"
    file.unlink()
    assert now() == "gone"


def test_a_stamp_is_utc_with_z():
    assert format_timestamp(0) == "1970-01-01T00:00:00.000Z"
    assert format_timestamp(1_700_000_000.1234) == "2023-11-14T22:13:20.123Z"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02T00:00:00Z", 86_400),
        ("1970-01-01T01:00:00+01:00", 0),
        ("7d", 1_000_000 - 7 * 86_400),
        (" 3H ", 1_000_000 - 3 * 3600),
    ],
)
def test_dates_timestamps_and_ages_are_parsed(text, seconds):
    assert parse_time(text, "since", now=1_000_000) == seconds


@pytest.mark.parametrize("text", ["", "99999999999999999d"])
def test_anything_else_is_refused_with_the_field(text):
    with pytest.raises(InvalidInput) as caught:
        parse_time(text, "until", now=0)

    assert caught.value.field == "until"
