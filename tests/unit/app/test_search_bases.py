import pytest
from msgspec import UNSET

from kebab.app.fetch import fetch
from kebab.app.grep import grep
from kebab.app.published import add_source
from kebab.app.search import search_all
from kebab.config.settings import find_copy_folder
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import InvalidInput, IoError, StaleCursor, StoreCorrupt
from kebab.wire.coverage import describe_absent_words, describe_known_gaps
from kebab.wire.fetch import FetchRequest, GrepRequest
from kebab.wire.library import FetchResult
from kebab.wire.published import SourceAddRequest
from kebab.wire.record import NotFound
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


WORDS = ("cats", "dogs", "birds", "snakes", "fish", "cats and dogs", "dogs, cats and birds")


def _add(desk, url, **fields):
    return add_source(desk.context(), SourceAddRequest(url=str(url), **fields), ignore_progress)


def _search(desk, query="cats", **fields):
    return search_all(desk.context(), SearchRequest(query=query, **fields))


def _names(response):
    return [(hit.base or "local", hit.doc_path) for hit in response.hits]


@pytest.fixture
def three(desk, publish_notes):
    """Own notes and two published bases with the same kind of notes."""
    for number, words in enumerate(WORDS):
        desk.write(f"mine{number}.md", f"# Mine\n\nSomething about {words}.\n")
    desk.ingest()
    for name in ("docs", "wiki"):
        notes = {
            f"{name}{number}.md": f"# {name}\n\nIn {name} there are {words} number {number}.\n"
            for number, words in enumerate(WORDS)
        }
        _add(desk, publish_notes(name, notes))
    return desk


def test_hits_of_all_bases_are_one_ranking(three):
    response = _search(three, limit=50)

    assert {base for base, _ in _names(response)} == {"local", "docs", "wiki"}
    assert [hit.rank for hit in response.hits] == list(range(1, len(response.hits) + 1))
    scores = [hit.score for hit in response.hits]
    assert scores == sorted(scores, reverse=True)
    firsts = [_names(_search(three, sort=one))[0][0] for one in ("newest", "oldest")]
    assert firsts == ["wiki", "local"]
    assert not response.absent_terms
    assert _search(three, "unicorn").absent_terms == ["unicorn"]


def test_pages_are_the_parts_of_the_whole_ranking(three):
    whole = _names(_search(three, limit=50))
    cursor, pages = None, []
    while True:
        response = _search(three, limit=2, cursor=cursor)
        pages += _names(response)
        cursor = response.next_cursor
        assert response.has_more == (cursor is not None)
        if cursor is None:
            break

    assert pages == whole


def test_a_cursor_is_stale_when_any_base_has_changed(three, publish_notes):
    cursor = _search(three, limit=1).next_cursor
    publish_notes("docs", {"new.md": "# New\n\nnew cats\n"})
    _add(three, three.folder / "published" / "docs")
    with pytest.raises(StaleCursor):
        _search(three, limit=1, cursor=cursor)


def test_the_budget_holds_for_the_merged_page(three):
    few = _search(three, limit=20, max_tokens=60)

    assert 1 <= len(few.hits) < 20
    assert few.truncated
    assert few.left_out.hits + len(few.hits) == len(_search(three, limit=20).hits)
    following = _search(three, limit=20, cursor=few.next_cursor)
    assert following.hits[0].rank == len(few.hits) + 1


def test_a_reference_with_the_name_of_a_base_is_fetched_there(three):
    hit = next(hit for hit in _search(three, limit=50).hits if hit.base == "wiki")
    refs = [hit.citation.uri, "mine1.md", f"wiki:{hit.chunk_id}", "wiki:nothing.md"]
    found = fetch(three.context(), FetchRequest(refs=refs))

    texts = [one.text for one in found.results if isinstance(one, FetchResult)]
    assert ["In wiki" in text for text in texts] == [True, False, True]
    assert "Something" in texts[1]
    assert found.missing == 1
    read, _, _, missing = found.results
    assert isinstance(read, FetchResult)
    assert read.citation.uri == hit.citation.uri
    assert isinstance(missing, NotFound)
    assert missing.name == "wiki:nothing.md"
    near = fetch(three.context(), FetchRequest(refs=["wiki:wik1.md"])).results[0]
    assert isinstance(near, NotFound)
    assert near.error.candidates[0] == "wiki:wiki1.md"


def test_a_base_without_copy_and_store_is_named_and_the_others_answer(three):
    from kebab.platform import delete_path

    whole = _search(three).coverage
    assert (whole.bases, whole.unread_bases) == (["docs", "wiki"], UNSET)
    assert describe_absent_words("x", whole) == "not in what was searched: x"
    assert whole.files == 3 * len(WORDS)
    folder = three.folder / "published" / "docs"
    delete_path(find_copy_folder(f"file://{folder}"))
    delete_path(folder)
    response = _search(three, limit=50)

    assert {base for base, _ in _names(response)} == {"local", "wiki"}
    assert any(one.reason.startswith("docs: ") for one in response.degraded)
    assert not response.coverage.complete
    assert response.coverage.unread_bases == ["docs"]
    assert describe_known_gaps(response.coverage) == ""  # `degraded` says it
    words = describe_absent_words("unicorn", _search(three, "unicorn").coverage)
    assert words == "not in the files that are read: unicorn (`docs` could not be read)"
    with pytest.raises(IoError):
        _search(three, base=["docs"])


def test_own_notes_that_are_damaged_are_named_and_the_others_answer(three):
    (three.data / "kebab.sqlite").write_bytes(b"not a database" * 1000)
    response = _search(three, limit=50)

    assert {base for base, _ in _names(response)} == {"docs", "wiki"}
    assert response.coverage.unread_bases == ["local"]
    assert not response.coverage.complete
    with pytest.raises(StoreCorrupt):
        _search(three, base=["local"])


def test_no_filter_is_called_unmatched_for_a_base_that_could_not_be_read(three):
    from kebab.platform import delete_path

    known = _search(three, tag=["pets"])
    assert [(one.filter, one.value) for one in known.unmatched_filters] == [("tag", "pets")]
    folder = three.folder / "published" / "docs"
    delete_path(find_copy_folder(f"file://{folder}"))
    delete_path(folder)
    unknown = _search(three, tag=["pets"])

    assert (unknown.hits, unknown.unmatched_filters, unknown.hint) == ([], [], None)
