from kebab.cli.context import list_place_flags
from kebab.cli.options import Flags


def test_the_places_of_a_call_are_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    assert list_place_flags(Flags(data_dir="kb")) == ["--data-dir", f"{tmp_path}/kb"]
    assert list_place_flags(Flags()) == []
