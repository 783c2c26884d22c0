import pytest
from msgspec.structs import replace

from kebab.app.library import remove_source
from kebab.app.published import add_source, describe_base
from kebab.config.settings import find_copy_folder
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import InvalidInput, IoError, ReadOnly, StoreCorrupt
from kebab.wire.library import SourceRemoved, SourceRmRequest
from kebab.wire.published import SourceAddRequest


def _add(desk, url, **fields):
    return add_source(desk.context(), SourceAddRequest(url=str(url), **fields), ignore_progress)


def test_a_base_without_copy_is_described_as_such(desk, publish_notes):
    _add(desk, publish_notes("docs", {"a.md": "# A\n\ncats\n"}))
    (base,) = desk.context().bases.load().values()
    moved = replace(base, name="x", url="s3://nowhere/x")

    assert describe_base(base).documents == 1
    assert describe_base(moved).problem == "there is no copy yet"


def test_a_base_is_removed_with_its_copy(desk, publish_notes):
    url = publish_notes("docs", {"a.md": "# A\n\ncats\n"})
    _add(desk, url)
    copy = find_copy_folder(f"file://{url}")
    dry = remove_source(desk.context(), SourceRmRequest(name="docs", dry_run=True))
    assert copy.exists()
    assert isinstance(dry, SourceRemoved)
    assert (dry.source.kind, dry.source.documents) == ("published", 1)
    remove_source(desk.context(), SourceRmRequest(name="docs"))

    assert not copy.exists()
    assert url.is_dir()
    assert not desk.context().bases.load()


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"url": ""}, InvalidInput),
        ({"url": "ftp://x/y"}, InvalidInput),
        ({"url": "nowhere"}, IoError),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_and_not_listed(desk, fields, fault):
    with pytest.raises(fault):
        add_source(desk.context(), SourceAddRequest(**fields), ignore_progress)
    assert not desk.context().bases.load()


def test_adding_needs_a_free_name_and_permission(desk, publish_notes):
    docs = publish_notes("docs", {"a.md": "# A\n\ncats\n"})
    wiki = publish_notes("wiki", {"b.md": "# B\n\ncats\n"})
    _add(desk, docs)
    with pytest.raises(InvalidInput, match="another base"):
        _add(desk, wiki, name="docs")
    with pytest.raises(ReadOnly):
        add_source(desk.context(read_only=True), SourceAddRequest(url=str(wiki)), ignore_progress)


def test_a_damaged_list_is_an_error(desk):
    folder = desk.data / "published"
    folder.mkdir(parents=True)
    (folder / "docs.json").write_text("{")

    with pytest.raises(StoreCorrupt):
        desk.context().bases.load()


def test_a_base_that_is_added_again_has_its_new_name_only(desk, publish_notes):
    url = publish_notes("docs", {"a.md": "# A\n\ncats\n"})
    for name in ("first", "second"):
        _add(desk, url, name=name)

    assert [*desk.context().bases.load()] == ["second"]
