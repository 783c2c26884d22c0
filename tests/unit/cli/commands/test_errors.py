import pytest


@pytest.mark.parametrize("more", [["--since", "1h"], ["--by", "kind"]])
def test_id_excludes_since_and_by(kebab, more):
    assert kebab("errors", "--id", "x", *more, "--json").fault["code"] == "usage_invalid"
