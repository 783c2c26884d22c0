import pytest

from kebab.core.chunks import DocId
from kebab.core.documents import Link, LinkTarget
from kebab.text.names import LinkResolver, compute_link_key, list_link_keys


def target(name: str, title: str = "", aliases: tuple[str, ...] = (), source: str = "notes"):
    return LinkTarget(DocId(f"{source}:{name}"), source, name, title or name, aliases)


VAULT = (
    target("index.md", "Home"),
    target("plans/q3.md", "Third quarter", ("Q3 plan",)),
    target("plans/README.md"),
    target("README.md"),
    target("deep/er/Meeting notes.md"),
    target("한글/회의록.md", "회의록"),
    target("papers/attention.txt"),
    target("v1.2 release.md"),
    target("journals/2024_03_05.md", "2024_03_05"),
    target("pages/proj___sub.md", "Heading"),
    target("pages/old%2Fname.md", "Heading"),
    target("index.md", source="other"),
)


@pytest.mark.parametrize(
    ("path", "written", "found"),
    [
        ("index.md", "plans/q3.md", "plans/q3.md"),
        ("index.md", "plans/q3", "plans/q3.md"),
        ("plans/q3.md", "../index.md", "index.md"),
        ("plans/q3.md", "README.md", "plans/README.md"),
        ("index.md", "README", "README.md"),
        ("plans/q3.md", "/index.md", "index.md"),
        ("index.md", "Meeting Notes", "deep/er/Meeting notes.md"),
        ("index.md", "er/Meeting notes", "deep/er/Meeting notes.md"),
        ("index.md", "q3 PLAN", "plans/q3.md"),
        ("index.md", "Third quarter", "plans/q3.md"),
        ("index.md", "회의록", "한글/회의록.md"),
        ("index.md", "v1.2 release", "v1.2 release.md"),
        ("index.md", "Mar 5th, 2024", "journals/2024_03_05.md"),
        ("index.md", "2024-03-05", "journals/2024_03_05.md"),
        ("index.md", "Tuesday, 05.03.2024", "journals/2024_03_05.md"),
        ("index.md", "2024-03-06", None),
        ("index.md", "2024-W10", None),
        ("index.md", "proj/sub", "pages/proj___sub.md"),
        ("index.md", "Old/name", "pages/old%2Fname.md"),
        ("index.md", "nothing", None),
        ("index.md", "../../outside.md", None),
        ("index.md", "", None),
    ],
)
def test_links_are_resolved_by_path_then_by_name(path, written, found):
    link = Link(DocId("x"), "notes", path, written)
    resolved = LinkResolver(VAULT).resolve(link)
    assert resolved == (None if found is None else f"notes:{found}")


def test_a_link_stays_in_its_source():
    link = Link(DocId("x"), "other", "a.md", "q3")
    assert LinkResolver(VAULT).resolve(link) is None


@pytest.mark.parametrize("document", VAULT)
def test_every_form_of_a_link_has_a_key_of_its_document(document):
    keys = list_link_keys(document)
    for written in (document.path, document.path.rpartition(".")[0], document.title):
        assert compute_link_key(written) in keys
