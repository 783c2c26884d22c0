import pytest

from kebab.app.grep import grep
from kebab.app.published import add_source
from kebab.app.search import search_all
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import InvalidInput
from kebab.wire.fetch import GrepRequest
from kebab.wire.published import SourceAddRequest
from kebab.wire.search import SearchRequest


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
    found = grep(context.bases.choose(["docs"]), GrepRequest(pattern="snakes"))

    assert [hit.doc_path for hit in found.hits] == ["docs.md"]
    assert context.bases.choose(["local"]) is context
    with pytest.raises(InvalidInput, match="several"):
        context.bases.choose(["docs", "wiki"])


@pytest.mark.parametrize(
    ("name", "words"), [("dcos", "dcos, did you mean `docs`"), ("nobody", "name: nobody$")]
)
def test_an_unknown_name_is_refused_with_a_near_one(two, name, words):
    context = two.context()
    with pytest.raises(InvalidInput, match=words):
        context.bases.choose([name])
    with pytest.raises(InvalidInput, match=words):
        search_all(context, SearchRequest(query="x", base=["docs", name]))
