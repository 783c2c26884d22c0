import pytest

from kebab.wire.library import SourceRmRequest
from kebab.wire.published import SourceAddRequest


def test_with_yes_the_source_is_removed(kebab, opened):
    ran = kebab("source", "rm", "notes", "--yes", "--json")

    assert opened[0].asked == [("source_rm", SourceRmRequest(name="notes"))]
    assert ran.reply["source"]["name"] == "/home/ada/notes"


def test_a_published_base_is_added_with_its_flags(kebab, opened):
    flags = ("--name", "guide", "--weight", "0.5", "--mode", "remote")
    ran = kebab("source", "add", "s3://bucket/base", *flags, "--json")

    request = SourceAddRequest(url="s3://bucket/base", name="guide", weight=0.5, mode="remote")
    assert opened[0].asked == [("source_add", request)]
    assert ran.reply["base"]["name"] == "docs"


@pytest.mark.parametrize("flags", [("--weight", "0"), ("--name", "a/b")])
def test_a_value_that_cannot_be_is_refused(kebab, opened, flags):
    ran = kebab("source", "add", "s3://bucket/base", *flags)

    assert ran.status == 2
    assert not opened or opened[0].asked == []
