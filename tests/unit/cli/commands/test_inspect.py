import pytest


@pytest.mark.parametrize("words", [["a.md"], ["doc", "a.md"]])
def test_a_name_alone_is_that_of_a_document(kebab, words):
    ran = kebab("inspect", *words, "--json")

    assert (ran.status, ran.reply["schema_version"]) == (0, "doc_inspection.v1")
