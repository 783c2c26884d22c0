import pytest

from kebab.app.legible import legible, require_legible
from kebab.errors.catalog import InvalidInput


def test_undecodable_bytes_become_escapes_and_all_else_stays():
    assert legible("caf\udce9 한글 😀\n") == "caf\\udce9 한글 😀\n"


@pytest.mark.parametrize("broken", ["\udce9", ("a", "b\udc80"), ["\ud800"]])
def test_a_field_that_utf8_cannot_carry_is_refused_by_its_name(broken):
    with pytest.raises(InvalidInput) as caught:
        require_legible({"query": "한글", "limit": 3, "doc_id": None, "tag": broken})

    assert caught.value.field == "$.tag"


def test_ordinary_fields_pass():
    require_legible({"query": "한글", "tag": ("a",), "since": 1.5, "doc_id": None})
