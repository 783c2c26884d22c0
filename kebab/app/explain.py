"""Explaining error codes, offline."""

import difflib

from kebab.errors.listing import catalog
from kebab.text.normalize import escape_undecodable
from kebab.wire.catalog import build_error_row, build_error_rows
from kebab.wire.error import ErrorCatalog
from kebab.wire.library import LookupFault, NotFound


def catalogue(code: str | None = None) -> ErrorCatalog | NotFound:
    """Return every row of the catalogue, or the one of a code."""
    if code is None:
        return ErrorCatalog(errors=build_error_rows())
    if signal := catalog().get(code):
        return ErrorCatalog(errors=[build_error_row(signal)])
    code = escape_undecodable(code)
    near = difflib.get_close_matches(code, catalog(), n=3)
    fault = LookupFault(
        kind="not_found", message=f"no such code: {code}", retryable=False, candidates=near
    )
    return NotFound(name=code, found=False, error=fault)
