"""Why a search finds a note or loses it, asked of the whole program."""

import shlex

import pytest


@pytest.fixture
def cli(local):
    return local


@pytest.fixture
def filled(cli):
    cli.write("vault.md", "---\ntags: [ops]\n---\n# Vault\n\nrestic checks the vault\n")
    cli.write("disk.md", "# Disk\n\nthe vault of restic on a new disk\n")
    for word in ("grass", "sun", "cloud", "rain"):
        cli.write(f"{word}.md", f"# {word}\n\n{word} in the meadow\n")
    cli.json("ingest", cli.notes)
    return cli


def test_the_hint_of_what_was_lost_is_a_command_that_finds_it(filled):
    lost = filled("why", "restic vault", "disk.md", "--tag", "ops", "--json", status=1).reply

    assert (lost["verdict"], lost["found"]) == ("kept_out", False)
    found = filled.json(*shlex.split(lost["hint"])[1:])
    assert "disk.md" in [hit["doc_path"] for hit in found["hits"]]


def test_the_ranks_of_a_reranked_search_are_told(filled):
    filled.write("safe.md", "# Vault\n\nrestic checks the vault again\n")
    filled.write("home.md", "# Vault\n\nrestic checks the vault at home\n")
    filled.install_models()
    filled.json("ingest", filled.notes)
    found = filled.json("search", "restic vault", "--rerank", "--trace")

    assert "rerank" in [stage["stage"] for stage in found["trace"]]
    for hit in found["hits"][:2]:
        told = filled.json("why", "restic vault", hit["chunk_id"], "--rerank")
        assert told["rank"] == hit["rank"]
        assert told["passages"][0]["lifts"] == hit["retrieval"]["lifts"]
