import shlex

import pytest

from tests.unit.app.test_why import asked, fill


def _run(desk, hint):
    """Search as a hint says, and return the paths of the hits."""
    *flags, query = shlex.split(hint)[2:]
    names = {"--tag": "tag", "--limit": "limit", "--mode": "mode", "--doc-id": "doc_id"}
    fields = {}
    for flag, value in zip(flags[::2], flags[1::2], strict=True):
        given = {"tag": [value], "limit": value, "mode": value, "doc_id": value}
        name = names[flag]
        fields[name] = int(value) if name == "limit" else given[name]
    return [hit.doc_path for hit in desk.search(query, **fields).hits]


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("restic vault", {"tag": ["ops"]}),
        ("restic vault tag:ops", {}),
        ("restic vault tag:ops -cloud", {"limit": 1}),
        ("restic -disk", {}),
        ('restic "checks the" title:vault', {}),
        ("restic vault", {"limit": 1}),
    ],
)
def test_the_command_in_the_hint_finds_the_document(desk, query, fields):
    fill(desk)
    lost = asked(desk, query, "disk.md", **fields)

    assert not lost.found
    assert lost.rank == (2 if fields == {"limit": 1} and "tag" not in query else None)
    assert "disk.md" in _run(desk, lost.hint)


def test_matching_filters_stay_in_the_hint(desk):
    fill(desk)

    lost = asked(desk, "restic lang:en -disk", "disk.md", mode="lexical", lang=[])

    assert shlex.split(lost.hint)[2:4] == ["--mode", "lexical"]


def test_without_words_and_vectors_the_hint_names_a_fix(desk):
    fill(desk)

    by_words = asked(desk, "zebra", "disk.md", mode="lexical")
    waiting = asked(desk, "zebra", "disk.md")

    assert (by_words.verdict, by_words.hint) == ("no_match", "kebab search zebra")
    assert waiting.verdict == "no_match"
    assert waiting.hint == "kebab ingest"


def test_the_hint_drops_per_doc_and_shows_copies(desk):
    fill(desk)
    for name in "abcd":
        desk.write(f"copies/{name}.md", "# Copy\n\nthe very same words\n")
    desk.ingest()
    passage = asked(desk, "disk", "disk.md").passages[1].chunk_id

    assert asked(desk, "disk", passage, per_doc=1).hint == "kebab search disk"
    surer = asked(desk, "disk of a zebra", "disk.md", min_confidence="strong")
    assert (surer.verdict, surer.hint) == ("confidence", "kebab search 'disk of a zebra'")
    assert asked(desk, "very same words", "copies/d.md").hint == "kebab dupes --exact"


def test_the_hint_repairs_a_degraded_channel(lab):
    fill(lab)

    lost = asked(lab, "zebra", "disk.md", flags={"models_dir": str(lab.folder / "none")})

    assert lost.degraded[0].hint == lost.hint


def test_an_unsupported_script_asks_for_the_model_that_knows_it(lab):
    lab.flags["models.embedding.model"] = "all-MiniLM-L6-v2"
    fill(lab)

    lost = asked(lab, "배추", "disk.md", mode="vector")

    assert lost.hint == "kebab model use multilingual-e5-small"
