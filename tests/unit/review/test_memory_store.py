"""What only the store in memory does; `tests/ports/test_review_store.py` holds it to the port."""

from kebab.review.memory_store import MemoryReviewStore
from tests.fakes.review_store import make_run


def test_two_stores_share_nothing():
    first, second = MemoryReviewStore(), MemoryReviewStore()
    first.add_run(make_run())

    assert second.load_run("r1") is None
