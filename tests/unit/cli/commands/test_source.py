import pytest

from kebab.wire.library import SourceRmRequest
from kebab.wire.published import SourceAddRequest


def test_a_pipe_gets_the_sources_between_tabs(kebab):
    first, second = kebab("source", "list").out.splitlines()

    assert first.split("\t")[:5] == ["/home/ada/notes", "/home/ada/notes", "present", "3", "9"]
    assert second.split("\t")[2] == "gone"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_without_a_terminal_confirmation_is_required(kebab, opened, flags):
    ran = kebab("source", "rm", "my notes", *flags, stdin=b"y\n")

    assert (ran.status, ran.out) == (2, "")
    assert "kebab source rm 'my notes' --yes" in ran.err
    assert opened[0].asked == []


def test_with_yes_the_source_is_removed(kebab, opened):
    ran = kebab("source", "rm", "notes", "--yes", "--json")

    assert opened[0].asked == [("source_rm", SourceRmRequest(name="notes"))]
    assert ran.reply["source"]["name"] == "/home/ada/notes"


def test_an_unknown_source_needs_no_confirmation(kebab, opened):
    ran = kebab("source", "rm", "nowhere", "--json")

    assert (ran.status, ran.reply["schema_version"]) == (1, "not_found.v1")
    assert opened[0].asked == []


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
