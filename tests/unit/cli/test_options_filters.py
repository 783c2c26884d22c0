import pytest

REPEATED = ["tag", "lang", "media", "source"]


@pytest.mark.parametrize("name", REPEATED)
def test_repeated_values_are_all_passed_on(kebab, opened, name):
    kebab("search", "x", f"--{name}", "a", f"--{name}", "b")

    assert getattr(opened[0].asked[0][1], name) == ["a", "b"]


def test_search_and_list_take_the_same_filters(kebab, opened):
    flags = ["--tag", "t", "--path", "a/**", "--doc-id", "d"]
    kebab("search", "x", *flags)
    kebab("list", *flags)

    request, listing = opened[0].asked[0][1], opened[1].asked[0][1]
    assert (request.tag, request.path_glob, request.doc_id) == (["t"], "a/**", "d")
    assert (listing.tag, listing.path_glob, listing.doc_id) == (["t"], "a/**", "d")
