import pytest

from kebab.app.review_start import create_run, keep_name
from kebab.wire.review import ReviewRequest, TranslateRequest


@pytest.mark.parametrize(
    ("request_", "kind", "tier"),
    [
        (ReviewRequest(names=["a.md"], tier="deep"), "review", "deep"),
        (TranslateRequest(name="a.md", to="ko"), "translate", "draft"),
    ],
)
def test_a_run_keeps_its_request_and_has_its_own_salt(desk, request_, kind, tier):
    one = create_run(desk.context(), request_, ["/a.md"], model="m", page_items=3)
    other = create_run(desk.context(), request_, ["/a.md"], model="m", page_items=3)

    assert (one.kind, one.tier, one.model, one.page_items) == (kind, tier, "m", 3)
    assert one.files == ("/a.md",)
    assert '"a.md"' in one.request
    assert len({one.run_id, other.run_id, one.salt, other.salt}) == 4


def test_a_run_that_is_not_stored_has_one_page(desk):
    request = ReviewRequest(names=["a.md"])
    run = create_run(desk.context(read_only=True), request, ["/a.md"], model=None, page_items=3)

    assert run.page_items > 1_000_000


def test_a_name_of_a_file_is_kept_as_its_path(desk, monkeypatch):
    path = desk.write("a.md", "Text.\n")
    monkeypatch.chdir(desk.notes)

    assert keep_name("a.md") == str(path)
    assert keep_name("no such document") == "no such document"
