from threading import Thread

import pytest

from kebab.app.dispatch import KebabPool
from kebab.app.facade import Kebab
from kebab.config.settings import Settings
from kebab.errors.catalog import InvalidInput
from kebab.wire.ingest import IngestTextRequest
from kebab.wire.search import SearchRequest


@pytest.fixture
def pool():
    pool = KebabPool(most_idle=2)
    yield pool
    pool.close()


def make_settings(folder):
    return Settings(data_dir=str(folder), models_dir=str(folder / "models"), offline=True)


def fill(settings, config, text="Sourdough rises in a warm kitchen."):
    with Kebab(settings, config_path=config) as kebab:
        kebab.run(IngestTextRequest(text=text.encode(), title="Bread"))


def search(pool, settings, config, query="sourdough"):
    with pool.lease(settings, config_path=config) as kebab:
        return kebab.run(SearchRequest(query=query))


def test_two_callers_at_once_have_their_own_with_the_same_models(pool, tmp_path):
    settings, config = make_settings(tmp_path), tmp_path / "c"
    with (
        pool.lease(settings, config_path=config) as one,
        pool.lease(settings, config_path=config) as two,
    ):
        assert one is not two
        assert one._context.embedders is two._context.embedders


@pytest.mark.parametrize("change", ["settings", "config", "read_only", "folder"])
def test_another_configuration_gets_another_knowledge_base(pool, tmp_path, change, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    settings, config, read_only = Settings(data_dir="base"), tmp_path / "c", False
    with pool.lease(settings, config_path=config) as first:
        pass
    if change == "settings":
        settings = Settings(data_dir="other")
    elif change == "config":
        config = tmp_path / "d"
    elif change == "read_only":
        read_only = True
    else:
        monkeypatch.chdir(tmp_path / "elsewhere")
    with pool.lease(settings, config_path=config, read_only=read_only) as other:
        assert other is not first


def test_a_replaced_database_is_opened_again(pool, tmp_path):
    settings, config = make_settings(tmp_path / "base"), tmp_path / "c"
    fill(settings, config)
    assert search(pool, settings, config).hits
    (tmp_path / "base").rename(tmp_path / "old")
    fill(settings, config, "Rye bread needs more water.")

    assert not search(pool, settings, config).hits
    assert search(pool, settings, config, "rye").hits


def test_a_refused_request_keeps_the_knowledge_base_and_a_fault_closes_it(pool, tmp_path):
    settings, config = make_settings(tmp_path), tmp_path / "c"
    fill(settings, config)
    found = []
    for query in ("bread", "", "bread"):
        try:
            with pool.lease(settings, config_path=config) as kebab:
                found.append(kebab)
                kebab.run(SearchRequest(query=query))
        except InvalidInput:
            pass
    with pytest.raises(RuntimeError), pool.lease(settings, config_path=config):
        raise RuntimeError
    with pool.lease(settings, config_path=config) as after:
        assert found[0] is found[1] is found[2] is not after


def test_threads_search_at_the_same_time(pool, tmp_path):
    settings, config = make_settings(tmp_path), tmp_path / "c"
    fill(settings, config)
    counts: list[int] = []

    def work():
        counts.extend(len(search(pool, settings, config).hits) for _ in range(20))

    threads = [Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counts == [1] * 120
    assert len(pool._idle) <= 2
