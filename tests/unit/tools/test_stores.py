import shutil
from itertools import cycle, product

import pytest

from kebab.app.dispatch import KebabPool
from kebab.app.facade import Kebab
from kebab.config.settings import Settings
from kebab.errors.signal import Signal
from kebab.wire.ingest import IngestRequest
from kebab.wire.library import ListRequest
from kebab.wire.search import SearchRequest
from tools.stores import CHANGES, LIBRARIES, WAYS, build_libraries

REQUESTS = (SearchRequest(query="sourdough"), ListRequest())


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    (folder / "notes").mkdir()
    settings = Settings(data_dir=str(folder / "data" / "kebab"), offline=True)

    def run(_, path):
        with Kebab(settings, config_path=folder / "c") as kebab:
            return kebab.run(IngestRequest(paths=[path])).errors

    build_libraries(folder, folder / "data" / "kebab", run)
    return folder, settings


def answer(kebab):
    """Return the replies without what differs from call to call, or the error."""
    try:
        replies = [kebab.run(request) for request in REQUESTS]
    except Signal as fault:
        return fault.code, fault.format_message()
    found, listed = replies
    hits = [(hit.doc_path, hit.snippet, hit.score) for hit in found.hits]
    return found.corpus_revision, hits, found.degraded, [one.doc_path for one in listed.documents]


def test_the_libraries_differ_and_most_have_the_same_revision(world):
    folder, settings = world
    answers = {}
    for library in LIBRARIES:
        WAYS[0](folder / library, folder / "data" / "kebab")
        with Kebab(settings, config_path=folder / "c") as kebab:
            answers[library] = answer(kebab)

    assert len({str(one) for one in answers.values()}) == len(LIBRARIES)
    assert answers["first"][0] == answers["branch"][0] == answers["other"][0]


SAFE = [name for name in CHANGES if name != "shared memory cut off"]
"""Memory that is cut off ends the process that uses it."""


@pytest.mark.parametrize(
    ("change", "way"), [*zip(SAFE, cycle(WAYS)), *product(["nothing"], WAYS[1:])]
)
def test_an_open_knowledge_base_answers_as_a_new_one(change, way, world):
    folder, settings = world
    data = folder / "data" / "kebab"
    pool = KebabPool()
    before = None
    for library in ("first", "branch"):
        way(folder / library, data)
        with pool.lease(settings, config_path=folder / "c") as kebab:
            before = answer(kebab)
            answer(kebab)
    CHANGES[change](data)
    if data.exists():
        shutil.copytree(data, folder / "kept")
    try:
        with pool.lease(settings, config_path=folder / "c") as kebab:
            found = answer(kebab)
    finally:
        pool.close()
        shutil.rmtree(data, ignore_errors=True)
        if (folder / "kept").exists():
            (folder / "kept").rename(data)
    with Kebab(settings, config_path=folder / "c") as kebab:
        assert found == answer(kebab)
    assert change != "nothing" or found == before
