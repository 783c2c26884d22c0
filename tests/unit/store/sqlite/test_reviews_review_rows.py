import msgspec
import pytest

from kebab.core.review import StoredUnit, Unit, UnitResult
from kebab.store.sqlite.reviews import (
    build_unit,
    decode_files,
    decode_result,
    encode_files,
    encode_result,
    encode_unit,
)
from tests.fakes.review_store import make_full_result


def test_a_clean_result_takes_two_bytes():
    assert encode_result(UnitResult()) == b"{}"
    assert decode_result(b"{}") == UnitResult()


def test_a_result_survives_with_every_field():
    assert decode_result(encode_result(make_full_result())) == make_full_result()


def test_an_unfinished_unit_has_no_result():
    unit = Unit("proofread", (3, 7), 10, 90, 1)

    assert build_unit((5, 2, encode_unit(unit), None, 0)) == StoredUnit(5, 2, unit, None)


def test_files_survive():
    files = ("/a b", "/가/\u2028'")

    assert decode_files(encode_files(files)) == files


@pytest.mark.parametrize("stored", [b"", b"[]", b'{"items":[{"uid":"x"}]}'])
def test_a_damaged_result_is_refused(stored):
    with pytest.raises(msgspec.DecodeError):
        decode_result(stored)
