import random

from kebab.app.library import find_duplicates
from kebab.core.progress import ignore_progress
from kebab.wire.library import DupesRequest

WORDS = [f"word{number}" for number in range(3000)]


def prose(seed, count=60):
    return " ".join(random.Random(seed).sample(WORDS, count))


def find(desk, **options):
    return find_duplicates(desk.context(), DupesRequest(**options), ignore_progress)


def test_copies_of_a_file_are_an_exact_group_with_path_and_lines(desk):
    for name in ("a.md", "old/b.md"):
        desk.write(name, f"# Title\n\n{prose(1)}\n\n{prose(2)}\n")
    desk.ingest()

    found = find(desk)

    (group,) = found.groups
    assert (group.unit, group.kind, group.similarity) == ("document", "exact", 1.0)
    assert [one.doc_path for one in group.members] == ["a.md", "old/b.md"]
    assert [one.citation.uri for one in group.members] == ["a.md#L1-L5", "old/b.md#L1-L5"]
    assert all((one.chunk_id, one.exact) == (None, True) for one in group.members)
    assert group.snippet.startswith("# Title")
    assert (found.total, found.has_more) == (1, False)
    assert find(desk, exact=True).groups == found.groups
