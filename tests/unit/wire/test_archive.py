import msgspec
import pytest

from kebab.wire.archive import decode_manifest
from kebab.wire.record import DECODE_ERRORS
from tests.fakes import replies


def test_a_manifest_is_decoded_unless_its_format_is_newer():
    manifest = replies.archive_manifest(format_version=2)
    raw = msgspec.json.encode(manifest)

    assert decode_manifest(raw, 2) == manifest
    assert decode_manifest(raw, 1) == 2


@pytest.mark.parametrize("raw", [b"", b"{}", b"[1]", b'{"format_version":"1"}', b"\xff"])
def test_what_is_no_manifest_is_refused(raw):
    with pytest.raises(DECODE_ERRORS):
        decode_manifest(raw, 1)
