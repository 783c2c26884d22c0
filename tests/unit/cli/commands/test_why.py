def test_query_name_and_flags_reach_the_library(kebab, opened):
    kebab(
        "why",
        "restore",
        "a",
        "backup",
        "a.md",
        "-n",
        "3",
        "--tag",
        "ops",
        "--per-doc",
        "1",
        "--rerank",
    )

    ((_, request),) = opened[0].asked
    assert request.name == "a.md"
    assert (request.search.query, request.search.limit) == ("restore a backup", 3)
    assert (request.search.tag, request.search.per_doc) == (["ops"], 1)
    assert request.search.rerank is True


def test_text_begins_with_the_verdict(kebab):
    assert kebab("why", "restore", "a.md").out.startswith("found at rank 1\n")


def test_a_query_and_a_document_are_needed(kebab):
    assert kebab("why", "restore", "--json").fault["code"] == "usage_invalid"
