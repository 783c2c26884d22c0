from kebab.app.explain import catalogue
from kebab.errors.listing import catalog
from kebab.wire.error import ErrorCatalog
from kebab.wire.library import NotFound


def test_without_a_code_every_row_comes():
    everything = catalogue()

    assert isinstance(everything, ErrorCatalog)
    assert {row.code for row in everything.errors} == set(catalog())


def test_one_code_gives_one_row():
    found = catalogue("locked")

    assert isinstance(found, ErrorCatalog)
    assert [row.code for row in found.errors] == ["locked"]


def test_an_unknown_code_is_an_answer_with_the_nearest_names():
    missing = catalogue("lock")

    assert isinstance(missing, NotFound)
    assert missing.error.candidates[:1] == ["locked"]
