import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kebab.errors.catalog import StoreCorrupt
from kebab.store.registry import change_registry, load_registry
from kebab.wire.published import Registration, Registry


def test_a_damaged_list_is_an_error(tmp_path):
    (tmp_path / "published.json").write_text("{")

    with pytest.raises(StoreCorrupt):
        load_registry(tmp_path)


def test_changes_at_once_lose_nothing(tmp_path):
    def add(name):
        base = Registration(name=name, url=f"s3://b/{name}")

        def change(now):
            time.sleep(0.01)  # others begin meanwhile
            return Registry(bases=[*now.bases, base], salt="x")

        change_registry(tmp_path / "data", change)

    names = [f"n{number}" for number in range(8)]
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(add, names))

    assert sorted(base.name for base in load_registry(tmp_path / "data").bases) == names
