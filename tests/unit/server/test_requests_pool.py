from threading import Thread

import pytest

from kebab.app.facade import Kebab
from kebab.config.settings import Settings
from kebab.errors.catalog import InvalidInput
from kebab.server.requests import KebabPool
from kebab.wire.ingest import IngestTextRequest
from kebab.wire.search import SearchRequest


@pytest.fixture
def pool(tmp_path):
    pool = KebabPool(tmp_path / "c", 2)
    yield pool
    pool.close()


def make_settings(folder):
    return Settings(data_dir=str(folder), models_dir=str(folder / "models"), offline=True)


def fill(settings, config, text="Sourdough rises in a warm kitchen."):
    with Kebab(settings, config_path=config) as kebab:
        kebab.run(IngestTextRequest(text=text.encode(), title="Bread"))


def search(pool, settings, query="sourdough"):
    with pool.lease(settings) as kebab:
        return kebab.run(SearchRequest(query=query))


def test_two_callers_at_once_have_their_own_with_the_same_models(pool, tmp_path):
    settings = make_settings(tmp_path)
    with pool.lease(settings) as one, pool.lease(settings) as two:
        assert one is not two
        assert one._context.embedders is two._context.embedders


@pytest.mark.parametrize("change", ["settings", "read_only"])
def test_another_configuration_gets_another_knowledge_base(pool, tmp_path, change):
    with pool.lease(make_settings(tmp_path)) as first:
        pass
    folder = tmp_path / "other" if change == "settings" else tmp_path
    with pool.lease(make_settings(folder), read_only=change == "read_only") as other:
        assert other is not first


def test_a_replaced_database_is_opened_again(pool, tmp_path):
    settings, config = make_settings(tmp_path / "base"), tmp_path / "c"
    fill(settings, config)
    assert search(pool, settings).hits
    (tmp_path / "base").rename(tmp_path / "old")
    fill(settings, config, "Rye bread needs more water.")

    assert not search(pool, settings).hits
    assert search(pool, settings, "rye").hits


def test_a_refused_request_keeps_the_knowledge_base_and_a_fault_closes_it(pool, tmp_path):
    settings, config = make_settings(tmp_path), tmp_path / "c"
    fill(settings, config)
    found = []
    for query in ("bread", "", "bread"):
        try:
            with pool.lease(settings) as kebab:
                found.append(kebab)
                kebab.run(SearchRequest(query=query))
        except InvalidInput:
            pass
    with pytest.raises(RuntimeError), pool.lease(settings):
        raise RuntimeError
    with pool.lease(settings) as after:
        assert found[0] is found[1] is found[2] is not after


def test_threads_search_at_the_same_time(pool, tmp_path):
    settings, config = make_settings(tmp_path), tmp_path / "c"
    fill(settings, config)
    counts: list[int] = []

    def work():
        counts.extend(len(search(pool, settings).hits) for _ in range(20))

    threads = [Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counts == [1] * 120
    assert len(pool._idle) <= 2
