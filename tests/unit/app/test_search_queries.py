import msgspec
import pytest

from kebab.app.search import build_filters, build_query, require_utf8
from kebab.errors.catalog import InvalidInput, TooLarge
from kebab.wire.library import ListRequest
from kebab.wire.search import FilteredRequest, SearchRequest

DAY = 86_400


@pytest.mark.parametrize("broken", ["\udce9", ("a", "b\udc80"), ["\ud800"]])
def test_a_field_that_is_not_utf8_is_refused_by_its_name(broken):
    with pytest.raises(InvalidInput) as caught:
        require_utf8(SearchRequest(query="한글", limit=3, doc_id=None, tag=broken))

    assert caught.value.field == "$.tag"


def test_a_query_of_more_than_a_megabyte_is_too_large():
    assert build_query(SearchRequest(query="가" * 333_333), 0.0).text

    with pytest.raises(TooLarge) as caught:
        build_query(SearchRequest(query="가" * 333_334), 0.0)

    assert (caught.value.size, caught.value.limit) == (1_000_002, 1_000_000)


def test_ordinary_fields_pass():
    require_utf8(SearchRequest(query="한글", tag=["a"], since="7d", doc_id=None))


def test_only_the_fields_of_a_named_base_are_checked():
    request = SearchRequest(query="\udce9", tag=["a"])

    require_utf8(request, FilteredRequest)
    with pytest.raises(InvalidInput):
        require_utf8(request)


def test_an_age_is_relative_to_now():
    found = build_filters(ListRequest(since="1d"), now=10 * DAY)

    assert (found.since, found.until) == (9 * DAY, None)


@pytest.mark.parametrize("name", ["since", "until"])
def test_an_invalid_date_is_refused_by_its_name(name):
    request = msgspec.convert({name: "soon"}, ListRequest)
    with pytest.raises(InvalidInput) as caught:
        build_filters(request, now=0)

    assert caught.value.field == f"$.{name}"


def test_a_filter_that_is_not_utf8_is_refused():
    with pytest.raises(InvalidInput) as caught:
        build_filters(ListRequest(lang=["\udcff"]), now=0)

    assert caught.value.field == "$.lang"
