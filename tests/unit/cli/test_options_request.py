import pytest

from kebab.cli.options import build_request, merge_flags
from kebab.errors.catalog import InvalidInput
from kebab.wire.ask import AskRequest
from kebab.wire.search import SearchRequest


def test_a_given_flag_overrides_the_defaults():
    flags = {"limit": 2, "mode": None, "tag": ("a", "b"), "lang": (), "trace": False}

    assert merge_flags({"limit": 10, "mode": "lexical"}, flags) == {
        "limit": 2,
        "mode": "lexical",
        "tag": ["a", "b"],
    }


@pytest.mark.parametrize(
    ("form", "fields"), [(SearchRequest, {"query": "x"}), (AskRequest, {"question": "x"})]
)
def test_fields_that_break_the_schema_are_named(form, fields):
    assert build_request(fields, form)
    with pytest.raises(InvalidInput, match=r"\$\.limit"):
        build_request({**fields, "limit": 0}, form)
