import pytest

from kebab.app.review import build_worker
from kebab.app.review_files import ReviewLibrary, find_targets
from kebab.errors.catalog import ConfigInvalid, InvalidInput, IoError, UnsupportedMedia
from kebab.review.model_worker import ModelWorker
from kebab.review.requests import create_run, keep_name
from kebab.review.selection import RulesWorker
from kebab.wire.record import NotFound
from kebab.wire.review import ReviewRequest, TranslateRequest
from tests.fakes.review_store import make_run


@pytest.mark.parametrize(
    ("request_", "kind", "tier"),
    [
        (ReviewRequest(names=["a.md"], tier="deep", limit=3), "review", "deep"),
        (TranslateRequest(name="a.md", to="ko", limit=3), "translate", "draft"),
    ],
)
def test_a_run_keeps_its_request_and_has_its_own_salt(request_, kind, tier):
    one = create_run(request_, ["/a.md"], "m", is_stored=True, now=1.0)
    other = create_run(request_, ["/a.md"], "m", is_stored=True, now=1.0)

    assert (one.kind, one.tier, one.model, one.page_items) == (kind, tier, "m", 3)
    assert one.files == ("/a.md",)
    assert '"a.md"' in one.request
    assert len({one.run_id, other.run_id, one.salt, other.salt}) == 4


def test_a_run_that_is_not_stored_has_one_page():
    request = ReviewRequest(names=["a.md"])
    run = create_run(request, ["/a.md"], None, is_stored=False, now=1.0)

    assert run.page_items > 1_000_000


def test_a_name_of_a_file_is_kept_as_its_path(desk, monkeypatch):
    path = desk.write("a.md", "Text.\n")
    monkeypatch.chdir(desk.notes)

    assert keep_name("a.md") == str(path)
    assert keep_name("no such document") == "no such document"


def test_without_an_index_nothing_is_known(desk):
    library = ReviewLibrary(desk.context())

    assert library.find_document(str(desk.notes / "a.md")) is None
    assert library.find_root(str(desk.notes)) is None


def test_a_document_is_found_by_its_path_on_disk(lab):
    path = lab.write("sub/a.md", "the cat sleeps\n")
    lab.ingest()
    library = ReviewLibrary(lab.context())

    document = library.find_document(str(path))
    assert document is not None
    assert document.path == "sub/a.md"
    assert library.find_document(str(lab.notes / "b.md")) is None


def test_the_root_is_the_nearest_source(lab):
    lab.write("sub/a.md", "the cat sleeps\n")
    lab.ingest()
    library = ReviewLibrary(lab.context())

    assert library.find_root(str(lab.notes / "sub" / "a.md")) == str(lab.notes)
    assert library.find_root(str(lab.notes)) == str(lab.notes)
    assert library.find_root(str(lab.folder)) is None


def find(desk, *names):
    context = desk.context()
    found = find_targets(context, ReviewLibrary(context), [str(name) for name in names])
    return (
        found
        if isinstance(found, NotFound)
        else [str(path)[len(str(desk.notes)) + 1 :] for path in found]
    )


@pytest.fixture
def folder(desk, monkeypatch):
    """Return a desk with a folder of notes, code and ignored files, which is the working one."""
    for name in ("a.md", "b.txt", "c.py", "deep/d.md", "deep/e.rst", "skip/f.md", "data.json"):
        desk.write(name, "text\n")
    desk.write(".kebabignore", "skip/\n")
    monkeypatch.chdir(desk.notes)
    return desk


def test_a_folder_means_its_prose_by_the_ignore_rules(folder):
    assert find(folder, folder.notes) == ["a.md", "b.txt", "deep/d.md", "deep/e.rst"]


def test_a_licence_is_left_out_unless_it_is_named(folder):
    folder.write("LICENSE", "text\n")

    assert "LICENSE" not in find(folder, folder.notes)
    assert find(folder, "LICENSE") == ["LICENSE"]


def test_a_link_to_another_file_of_the_folder_is_left_out(folder):
    (folder.notes / "linked.md").symlink_to(folder.notes / "a.md")

    assert "linked.md" not in find(folder, folder.notes)
    assert find(folder, "linked.md") == ["linked.md"]


def test_a_file_is_found_from_the_working_folder_even_when_it_is_ignored(folder):
    assert find(folder, "skip/f.md", "./a.md", "deep/../a.md") == ["skip/f.md", "a.md"]


def test_names_are_worked_on_in_order_each_file_once(folder):
    assert find(folder, "deep", "a.md", "deep/d.md") == ["deep/d.md", "deep/e.rst", "a.md"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.md", ["a.md"]),
        ("**/*.md", ["a.md", "deep/d.md"]),
        ("deep/*", ["deep/d.md", "deep/e.rst"]),
        ("*", ["a.md", "b.txt"]),
        ("d*/[de].*", ["deep/d.md", "deep/e.rst"]),
    ],
)
def test_a_pattern_means_the_prose_that_it_matches(folder, pattern, expected):
    assert find(folder, pattern) == expected
    assert find(folder, folder.notes / pattern) == expected


def test_source_code_is_reviewed_when_it_is_named_and_data_is_unsupported(folder):
    assert find(folder, "c.py") == ["c.py"]
    with pytest.raises(UnsupportedMedia):
        find(folder, "data.json")


@pytest.mark.parametrize("name", ["nowhere.md", "*.org", "nowhere/*.md", "nowhere/**/*.md"])
def test_a_name_that_means_nothing_is_not_found(folder, name):
    assert isinstance(find(folder, "a.md", name), NotFound)


@pytest.mark.parametrize("name", ["a\0.md", "a\udce9.md"])
def test_a_name_that_is_no_path_is_an_io_error(folder, name):
    with pytest.raises(IoError):
        find(folder, name)


def test_a_broken_link_is_an_io_error(folder):
    (folder.notes / "link.md").symlink_to("nowhere.md")

    with pytest.raises(IoError):
        find(folder, "link.md")


def build(desk, run, request, **settings):
    """Return the worker of a run of no file."""
    return build_worker(desk.context(**settings), run, request, None, lambda _: None)


def test_a_run_without_a_model_has_the_rules_only(desk):
    worker = build(desk, make_run(model=None), ReviewRequest())

    assert isinstance(worker.inner, RulesWorker)


def test_a_run_keeps_its_model(desk):
    run = make_run(model="first:1b")
    worker = build(desk, run, ReviewRequest(tier="deep"), models__llm__model="another")

    assert isinstance(worker.inner, ModelWorker)
    assert (worker.inner.llm.name, worker.inner.tier) == ("first:1b", "deep")


def test_an_unknown_rule_is_refused(desk):
    with pytest.raises(InvalidInput):
        build(desk, make_run(), ReviewRequest(rules=["nonsense"]))
    with pytest.raises(ConfigInvalid):
        build(desk, make_run(), ReviewRequest(), review__disable=["nonsense"])
