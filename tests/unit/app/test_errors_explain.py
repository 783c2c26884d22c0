from pathlib import Path

from kebab.app.context import AppContext
from kebab.app.errors import explain_codes
from kebab.config.settings import Settings
from kebab.errors.catalog import build_catalog
from kebab.wire.error import ErrorCatalog, ExplainRequest
from kebab.wire.record import NotFound


def explain_code(code=None):
    context = AppContext(Settings(), config_path=Path("/nowhere"))
    return explain_codes(context, ExplainRequest(code=code))


def test_without_a_code_every_row_is_returned():
    everything = explain_code()

    assert isinstance(everything, ErrorCatalog)
    assert {row.code for row in everything.errors} == set(build_catalog())


def test_a_code_returns_its_row():
    found = explain_code("locked")

    assert isinstance(found, ErrorCatalog)
    assert [row.code for row in found.errors] == ["locked"]


def test_an_unknown_code_is_a_reply_with_the_nearest_codes():
    missing = explain_code("lock")

    assert isinstance(missing, NotFound)
    assert missing.error.candidates[:1] == ["locked"]
