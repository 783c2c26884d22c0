import pytest

from kebab.app.legible import require_legible
from kebab.errors.catalog import InvalidInput


@pytest.mark.parametrize("broken", ["\udce9", ("a", "b\udc80"), ["\ud800"]])
def test_a_field_that_utf8_cannot_carry_is_refused_by_its_name(broken):
    with pytest.raises(InvalidInput) as caught:
        require_legible({"query": "한글", "limit": 3, "doc_id": None, "tag": broken})

    assert caught.value.field == "$.tag"


def test_ordinary_fields_pass():
    require_legible({"query": "한글", "tag": ("a",), "since": 1.5, "doc_id": None})
