from kebab.wire.library import SourceRmRequest
from kebab.wire.published import SourceAddRequest


def test_with_yes_the_source_is_removed(kebab, opened):
    ran = kebab("source", "rm", "notes", "--yes", "--json")

    assert opened[0].asked == [("source_rm", SourceRmRequest(name="notes"))]
    assert ran.reply["source"]["name"] == "/home/ada/notes"


def test_a_published_base_is_added_with_its_flags(kebab, opened):
    flags = ("--name", "guide", "--mode", "remote")
    ran = kebab("source", "add", "s3://bucket/base", *flags, "--json")

    request = SourceAddRequest(url="s3://bucket/base", name="guide", mode="remote")
    assert opened[0].asked == [("source_add", request)]
    assert ran.reply["base"]["name"] == "docs"
