import pytest

from kebab.cli.request import made, stated
from kebab.errors.catalog import InvalidInput
from kebab.wire.ask import AskRequest
from kebab.wire.search import SearchRequest


def test_a_flag_that_was_given_outranks_the_defaults():
    flags = {"limit": 2, "mode": None, "tag": ("a", "b"), "lang": (), "trace": False}

    assert stated({"limit": 10, "mode": "lexical"}, flags) == {
        "limit": 2,
        "mode": "lexical",
        "tag": ["a", "b"],
    }


@pytest.mark.parametrize(
    ("form", "fields"), [(SearchRequest, {"query": "x"}), (AskRequest, {"question": "x"})]
)
def test_fields_that_break_the_schema_are_named(form, fields):
    assert made(fields, form)
    with pytest.raises(InvalidInput, match=r"\$\.limit"):
        made({**fields, "limit": 0}, form)
