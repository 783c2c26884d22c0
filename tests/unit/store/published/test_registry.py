import pytest

from kebab.errors.catalog import StoreCorrupt
from kebab.store.published.registry import load_registry, store_registry
from kebab.wire.published import Registration, Registry


def test_the_list_is_kept_and_empty_without_its_file(tmp_path):
    assert load_registry(tmp_path / "nowhere") == Registry()
    registry = Registry(bases=[Registration(name="a", url="s3://b/c", public_key="00")], salt="x")
    store_registry(tmp_path / "data", registry)

    assert load_registry(tmp_path / "data") == registry


def test_a_damaged_list_is_an_error(tmp_path):
    (tmp_path / "published.json").write_text("{")

    with pytest.raises(StoreCorrupt):
        load_registry(tmp_path)
