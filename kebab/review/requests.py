"""Checks the requests of reviews and translations, and makes runs of them."""

import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.config.settings import Llm
from kebab.core.review import RunKind, StoredRun
from kebab.errors.catalog import InvalidInput
from kebab.wire.record import encode_json
from kebab.wire.review import ReviewRequest, ReviewTierName, TranslateRequest

if TYPE_CHECKING:
    from kebab.store.sqlite.reviews import SqliteReviewStore

UNLIMITED = 2**31
"""The items of a page when nothing is stored, so that there is no further page."""
_PAGE_ITEMS: dict[ReviewTierName, int] = {"quick": 32, "deep": 48}
_SEGMENTS = 32
_ID_BYTES, _SALT_BYTES = 8, 16
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_NO_MODEL = "a language model is needed, and `models.llm.provider` is `extractive`"


def check_review_request(request: ReviewRequest) -> None:
    """Refuse a request whose fields contradict each other."""
    cause = "a run keeps its documents and rules"
    if not _continues(request, ("names", "rules", "changed"), cause) and not request.names:
        raise InvalidInput(field="$.names", cause="no document is named")


def check_translate_request(request: TranslateRequest) -> None:
    """Refuse a request whose fields are missing or contradict each other."""
    if _continues(request, ("name", "to"), "a run keeps its document and language"):
        return
    if not request.name:
        raise InvalidInput(field="$.name", cause="no document is named")
    if request.to is None or not _TAG.fullmatch(request.to):
        cause = "it is no language tag such as `ko` or `pt-BR`"
        raise InvalidInput(field="$.to", cause="no language is named" if not request.to else cause)


def _continues(request: ReviewRequest | TranslateRequest, kept: Sequence[str], cause: str) -> bool:
    """Return whether a request continues a run, which keeps some fields."""
    if request.run_id is None and request.cursor is not None:
        raise InvalidInput(field="$.cursor", cause="a cursor needs the `run_id` of its page")
    for field in kept if request.run_id is not None else ():
        if getattr(request, field):
            raise InvalidInput(field=f"$.{field}", cause=cause)
    return request.run_id is not None


def requires_model(request: ReviewRequest) -> bool:
    """Return whether a failure of the model is an error: it is named, or the tier needs one."""
    return request.model is not None or request.tier == "deep"


def choose_model(request: ReviewRequest | TranslateRequest, llm: Llm) -> str | None:
    """Return the language model to ask; None when only the rules are applied.

    Raises:
        InvalidInput: One is needed, and the settings have none.
    """
    review = request if isinstance(request, ReviewRequest) else None
    if review and review.no_llm:
        return None
    if llm.provider != "extractive":
        return request.model or llm.model
    if review and not requires_model(review):
        return None
    field = "$.tier" if review and not review.model else "$.model"
    raise InvalidInput(field=field, cause=_NO_MODEL)


def create_run(
    request: ReviewRequest | TranslateRequest,
    files: Sequence[str],
    model: str | None,
    *,
    is_stored: bool,
    now: float,
) -> StoredRun:
    """Return a new run that is not stored yet; without storage all items are on one page."""
    review = request if isinstance(request, ReviewRequest) else None
    usual = _PAGE_ITEMS[review.tier] if review else _SEGMENTS
    return StoredRun(
        run_id=secrets.token_hex(_ID_BYTES),
        kind="review" if review else "translate",
        tier=review.tier if review else "draft",
        model=model,
        request=encode_json(request).decode(),
        files=tuple(files),
        salt=secrets.token_hex(_SALT_BYTES),
        page_items=(request.limit or usual) if is_stored else UNLIMITED,
        created=now,
    )


def keep_name(name: str) -> str:
    """Return a name that means the same in another working folder."""
    path = Path(name).expanduser()
    return str(path.absolute()) if path.exists() else name


def load_run(
    store: "SqliteReviewStore", kind: RunKind, request: ReviewRequest | TranslateRequest
) -> StoredRun | None:
    """Return the stored run that a request continues; None when there is none of this kind.

    Raises:
        InvalidInput: The request contradicts the run.
    """
    run = store.load_run(request.run_id or "")
    if run is None or run.kind != kind:
        return None
    if request.limit not in {None, run.page_items}:
        cause = f"the pages of this run have up to {run.page_items} items"
        raise InvalidInput(field="$.limit", cause=cause)
    if isinstance(request, ReviewRequest) and request.tier == "deep" != run.tier:
        raise InvalidInput(field="$.tier", cause=f"the tier of this run is `{run.tier}`")
    if isinstance(request, ReviewRequest) and request.model not in {None, run.model}:
        cause = f"the model of this run is `{run.model}`" if run.model else "this run has no model"
        raise InvalidInput(field="$.model", cause=cause)
    return run
