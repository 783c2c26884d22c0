"""Without a network nothing is a dead end: words are searched, vectors follow when they can."""

import resource
import subprocess
import time
from contextlib import contextmanager

import pytest

from kebab.embed.registry import E5_SMALL
from tests.fakes import tiny_model

NOWHERE = "http://127.0.0.1:9"
"""An address where nothing listens."""
ISOLATED = ("unshare", "--map-root-user", "--net")
MOST_SECONDS_OF_WAITING = 20


def _can_isolate():
    """Return whether a process without any network can be started on this machine."""
    try:
        return subprocess.run([*ISOLATED, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.fixture
def cut(cli):
    """A kebab that may use the network and finds its ports closed."""
    del cli.environment["KEBAB_OFFLINE"]
    names = ("HTTP_PROXY", "HTTPS_PROXY", "HF_ENDPOINT", "PIP_INDEX_URL")
    cli.environment |= dict.fromkeys(names, NOWHERE)
    cli.write("cat.md", "# Cat\n\nthe cat sleeps on the mat\n")
    cli.write("dog.md", "# Dog\n\nthe dog runs in the park\n")
    return cli


@contextmanager
def _no_long_wait():
    """Fail when the processes of the block did nothing for too long."""
    started, before = time.monotonic(), _count_busy_seconds()
    yield
    assert time.monotonic() - started - (_count_busy_seconds() - before) < MOST_SECONDS_OF_WAITING


def _count_busy_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_everything_works_by_words_and_vectors_follow(cut, read_lines):
    with _no_long_wait():
        ran = cut("ingest", cut.notes, "--json")
    first = ran.reply
    with _no_long_wait():
        page = cut.json("search", "cat")
    with _no_long_wait():
        cut.fails("embedding_unavailable", "search", "cat", "--mode", "vector")

    said = "no passage is embedded in this run, new ones are found by words"
    assert any(said in one.get("message", "") for one in read_lines(ran.err))
    assert (first["new"], first["errors"]) == (2, 0)
    assert first["embedding"]["version"] is None
    assert (first["embedding"]["embedded"], first["embedding"]["pending"]) == (0, 2)
    assert [hit["doc_path"] for hit in page["hits"]] == ["cat.md"]
    assert [one["channel"] for one in page["degraded"]] == ["vector"]
    assert cut.json("schema")["stats"]["pending_embeddings"] == 2

    tiny_model.install_model(E5_SMALL, cut.models)
    cut.own_process = False  # to save time
    filled = cut.json("ingest", cut.notes)
    hybrid = cut.json("search", "cat")  # it is the name of a note, so random weights do not matter

    assert (filled["embedding"]["embedded"], filled["embedding"]["pending"]) == (2, 0)
    assert hybrid["degraded"] == []
    assert hybrid["hits"][0]["retrieval"]["method"] == "hybrid"


@pytest.mark.skipif(not _can_isolate(), reason="needs a user namespace without a network")
def test_without_an_interface_words_are_found(cut):
    cut.prefix = ISOLATED
    with _no_long_wait():
        said = cut("ingest", cut.notes).err.decode()
    with _no_long_wait():
        page = cut.json("search", "cat")

    assert "no passage is embedded in this run, new ones are found by words" in said
    assert [hit["doc_path"] for hit in page["hits"]] == ["cat.md"]
    assert [one["channel"] for one in page["degraded"]] == ["vector"]
