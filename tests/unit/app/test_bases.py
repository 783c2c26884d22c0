import pytest

from kebab.app.bases import Choice, choose_base, choose_bases
from kebab.app.grep import grep
from kebab.app.published import add_source
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import InvalidInput
from kebab.wire.fetch import GrepRequest
from kebab.wire.published import SourceAddRequest
from kebab.wire.search import SearchRequest, UnmatchedFilter


@pytest.fixture
def two(desk, publish_notes):
    """Two published bases beside a knowledge base."""
    desk.write("a.md", "# A\n\nmine\n")
    desk.ingest()
    for name in ("docs", "wiki"):
        url = str(publish_notes(name, {f"{name}.md": f"# {name}\n\nabout snakes\n"}))
        add_source(desk.context(), SourceAddRequest(url=url), ignore_progress)
    return desk


def test_other_operations_read_one_base(two):
    context = two.context()
    found = grep(choose_base(context, ["docs"]), GrepRequest(pattern="snakes"))

    assert [hit.doc_path for hit in found.hits] == ["docs.md"]
    assert choose_base(context, ["local"]) is context
    with pytest.raises(InvalidInput, match="several"):
        choose_base(context, ["docs", "wiki"])


@pytest.mark.parametrize(
    ("name", "words"), [("dcos", "dcos, did you mean `docs`"), ("nobody", "name: nobody$")]
)
def test_an_unknown_name_is_refused_with_a_near_one(two, name, words):
    context = two.context()
    with pytest.raises(InvalidInput, match=words):
        choose_base(context, [name])
    with pytest.raises(InvalidInput, match=words):
        choose_bases(context, SearchRequest(query="x", base=["docs", name]))


def test_the_own_notes_are_left_out_where_there_are_none(desk, publish_notes):
    url = str(publish_notes("docs", {"docs.md": "# Docs\n\nsnakes\n"}))
    add_source(desk.context(), SourceAddRequest(url=url), ignore_progress)

    chosen = choose_bases(desk.context(), SearchRequest(query="x"))
    assert [base.name for base in chosen.bases] == ["docs"]
    assert choose_bases(desk.context(), SearchRequest(query="x", base=["local"])).is_local


def _unmatched(filter_name, value, documents=0, nearest=()):
    return UnmatchedFilter(filter=filter_name, value=value, documents=documents, nearest=[*nearest])


def test_filters_are_unmatched_where_all_bases_agree():
    merge = Choice().merge_unmatched
    alone = [_unmatched("tag", "x", nearest=["y"])], [_unmatched("tag", "x", nearest=["z"])]
    together = [_unmatched("tag", "x", 2), _unmatched("lang", "ko", 1)]

    assert merge(alone) == [_unmatched("tag", "x", nearest=["y", "z"])]
    assert [one.documents for one in merge([together, together])] == [4, 2]
    assert merge([alone[0], together]) == []
    assert merge([alone[0], []]) == []
