import shutil

import pytest

from kebab.app.doctor import check_health
from kebab.app.models import list_models, use_model
from kebab.core.progress import Cancel, ignore_progress
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.wire.health import DoctorRequest, ModelListRequest, ModelUseRequest

ENGLISH = "The heating is checked in the autumn, and the filter of the pump is cleaned then.\n" * 9
KOREAN = "가을에는 난방을 점검하고 펌프의 필터도 함께 청소합니다. 기록은 공책에 남깁니다.\n" * 9


@pytest.fixture(autouse=True)
def english_locale(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def remove_weights(own_models):
    """Remove the weights of a model from the folder of this test."""
    return lambda model: shutil.rmtree(own_models / model.version)


@pytest.mark.parametrize(
    ("text", "model", "reason"),
    [
        (ENGLISH, MINILM, "your notes are English"),
        (KOREAN, E5_SMALL, "100 % of your notes are Korean"),
    ],
    ids=["english", "korean"],
)
def test_the_text_chooses_the_model_and_the_report_says_why(lab, text, model, reason):
    lab.write("note.md", text)

    report = lab.ingest()

    assert (report.embedding.version, report.embedding.reason) == (model.version, reason)
    assert report.embedding.pending == 0
    assert list_models(lab.context(), ModelListRequest()).reason == reason


def test_a_model_that_does_not_know_the_text_is_not_chosen_in_silence(desk, remove_weights):
    remove_weights(E5_SMALL)
    desk.write("note.md", KOREAN)

    summary = desk.ingest().embedding

    assert (summary.version, summary.reason, summary.pending) == (None, None, 1)
    assert summary.unavailable == "working offline"
    assert summary.hint == "kebab model pull multilingual-e5-small"


def test_a_model_that_serves_most_of_the_text_is_better_than_none(desk, remove_weights):
    remove_weights(E5_SMALL)
    desk.write("english.md", ENGLISH * 3)
    desk.write("korean.md", KOREAN)

    summary = desk.ingest().embedding

    assert summary.version == MINILM.version
    assert summary.reason == (
        "multilingual-e5-small cannot be had; other languages are found by words only"
    )


def test_the_model_stays_and_another_is_advised_when_the_text_changes(lab):
    lab.write("note.md", ENGLISH)
    lab.ingest()
    lab.write("korean.md", KOREAN)

    second = lab.ingest().embedding

    assert (second.version, second.reason) == (MINILM.version, None)
    check = {check.name: check for check in check_health(lab.context(), DoctorRequest()).checks}[
        "embedding_version"
    ]
    assert check.summary.endswith(
        "% of your notes are Korean, which all-minilm-l6-v2 does not know"
    )
    assert (check.status, check.fix) == ("warn", "kebab model use multilingual-e5-small")


def test_changing_to_auto_chooses_by_the_documents_and_a_named_model_has_no_reason(lab):
    lab.write("note.md", KOREAN)
    lab.ingest()

    def use(name):
        return use_model(lab.context(), ModelUseRequest(name=name), ignore_progress, Cancel())

    use(MINILM.key)
    assert list_models(lab.context(), ModelListRequest()).reason is None
    assert use("auto").model.embedding_version == E5_SMALL.version
    assert list_models(lab.context(), ModelListRequest()).reason == "100 % of your notes are Korean"
