"""What is near to a note and what repeats it, asked of the whole program."""

import pytest

VAULT = "restic checks the vault before a restore and prunes old snapshots of it every week"
LONGER = f"{VAULT}, then the disk is wiped and everything is copied back and compared once more"
OTHER = "buy two disks, label both, keep one at home and bring the other to the office on Monday"
FILLING = ("grass", "sun", "cloud", "rain", "wind", "snow", "tree", "leaf", "root", "stem")


@pytest.fixture
def cli(local):
    return local


@pytest.fixture
def filled(cli):
    cli.write("vault.md", f"# Vault\n\n{LONGER}\n")
    cli.write("old/vault.md", f"# Vault\n\n{LONGER}\n")
    cli.write("plan.md", f"# Plan\n\n{LONGER}\n\n# Next\n\n{OTHER}\n")
    for word in FILLING:
        cli.write(f"{word}.md", f"# {word}\n\n{word} in the meadow\n")
    return cli


def test_neighbours_are_found_by_words_and_then_by_meaning_too(filled):
    filled.json("ingest", filled.notes)
    by_words = filled.json("related", "vault.md")
    filled.install_models()
    filled.json("ingest", filled.notes)

    by_both = filled.json("related", "vault.md")

    assert [one["doc_path"] for one in by_words["related"]][:2] == ["old/vault.md", "plan.md"]
    assert [one["channel"] for one in by_words["degraded"]] == ["vector"]
    assert by_both["related"][0]["pair"]["cosine"] == pytest.approx(1.0, abs=0.001)
    assert by_both["degraded"] == []
