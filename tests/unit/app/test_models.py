import shutil

import pytest

from kebab.app.doctor import check_health
from kebab.app.models import list_models, pull_model, use_model
from kebab.core.documents import NEXT_VECTORS
from kebab.core.progress import Cancel, Progress, ProgressKind, ignore_progress
from kebab.embed.registry import E5_SMALL, MINILM, MODELS
from kebab.errors.catalog import EmbeddingUnavailable, Locked, UsageInvalid
from kebab.wire.health import DoctorRequest, ModelListRequest, ModelPullRequest, ModelUseRequest


def _use(desk, name, **flags):
    return use_model(desk.context(**flags), ModelUseRequest(name=name), ignore_progress, Cancel())


def _pull(desk, name, **flags):
    return pull_model(desk.context(**flags), ModelPullRequest(name=name), ignore_progress, Cancel())


@pytest.fixture
def full(lab):
    for name in ("cat", "dog", "bird"):
        lab.write(f"{name}.md", f"the {name} sleeps\n")
    lab.ingest()
    return lab


def test_installed_and_active_models_are_marked(full):
    told = list_models(full.context(), ModelListRequest())

    assert [(row.installed, row.active) for row in told.models] == [(True, True), (True, False)]
    assert all((row.bytes or 0) > 10_000 for row in told.models)


def test_auto_downloads_the_best_available_model(desk, own_models):
    shutil.rmtree(own_models / E5_SMALL.version)

    assert _pull(desk, "auto").model.name == MINILM.name


def test_auto_downloads_the_model_that_the_knowledge_base_uses(full):
    _use(full, MINILM.key)
    assert _pull(full, "auto").model.name == MINILM.name

    _use(full, E5_SMALL.key)
    assert _pull(full, "auto").model.name == E5_SMALL.name


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.key)
def test_auto_downloads_the_model_of_the_settings(full, model):
    flags = {"models__embedding__model": model.key}

    assert _pull(full, "auto", **flags).model.name == model.name


@pytest.mark.parametrize("work", [_pull, _use])
@pytest.mark.parametrize("name", ["auto", MINILM.key])
def test_offline_missing_weights_are_unavailable(desk, work, name):
    with pytest.raises(EmbeddingUnavailable):
        work(desk, name)

    assert not desk.data.exists()


def test_changing_the_model_embeds_everything_again(full):
    report = _use(full, MINILM.key)

    assert (report.model.name, report.model.active) == (MINILM.name, True)
    assert (report.embedded, report.pending, report.fetched) == (3, 0, False)
    (hit, *_) = full.search("cat", mode="vector").hits
    assert hit.embedding_version == MINILM.version
    assert full.again().embedding.version == MINILM.version


def test_a_model_can_be_chosen_before_the_first_ingest(lab):
    _use(lab, MINILM.key)
    lab.write("a.md", "the cat\n")

    assert lab.ingest().embedding.version == MINILM.version


def test_a_cancelled_change_keeps_the_old_model_and_names_the_command_to_continue(full):
    cancel = Cancel()
    cancel.request()
    report = use_model(full.context(), ModelUseRequest(name=MINILM.key), ignore_progress, cancel)

    assert (report.embedded, report.pending, report.model.active) == (0, 3, False)
    assert report.resume == "kebab model use all-minilm-l6-v2"
    assert full.search("cat", mode="vector").hits[0].embedding_version == E5_SMALL.version
    check = {check.name: check for check in check_health(full.context(), DoctorRequest()).checks}
    assert check["embedding_version"].fix == report.resume
    assert full.again().embedding.embedded == 0
    finished = _use(full, MINILM.key)
    assert (finished.embedded, finished.pending, finished.resume) == (3, 0, None)


def test_an_interrupted_change_to_a_model_of_another_build_is_no_fault(full):
    with full.context().open_writer("model use") as library:
        library.set_value(NEXT_VECTORS, "from-another-build 1")

    check = {check.name: check for check in check_health(full.context(), DoctorRequest()).checks}

    assert check["embedding_version"].status == "ok"
    assert _use(full, MINILM.key).pending == 0


def test_searches_stay_hybrid_with_the_old_model_during_a_change(full):
    seen = []

    def search_again(event):
        if event.kind is ProgressKind.EMBED_BATCH:
            found = full.search("the cat sleeps")
            seen.append((found.degraded, found.hits[0].embedding_version))

    request = ModelUseRequest(name=MINILM.key)
    use_model(full.context(), request, search_again, Cancel())

    assert seen == [([], E5_SMALL.version)]
    assert full.search("the cat sleeps").hits[0].embedding_version == MINILM.version


def test_two_changes_at_once_are_refused(full):
    def change_again(event):
        if event.kind is ProgressKind.EMBED_BATCH:
            with pytest.raises(Locked):
                _use(full, MINILM.key)
            refused.append(event)

    refused: list[Progress] = []
    use_model(full.context(), ModelUseRequest(name=MINILM.key), change_again, Cancel())

    assert len(refused) == 1


def test_a_failed_download_changes_nothing(full, own_models):
    shutil.rmtree(own_models / MINILM.version)
    full.flags["models_dir"] = str(own_models)

    with pytest.raises(EmbeddingUnavailable):
        _use(full, MINILM.key)

    assert full.search("cat", mode="vector").hits[0].embedding_version == E5_SMALL.version


def test_a_model_that_contradicts_the_settings_is_refused_before_downloading(desk):
    with pytest.raises(UsageInvalid, match=MINILM.key):
        _use(desk, E5_SMALL.key, models__embedding__model=MINILM.key)


def test_auto_is_the_model_of_the_settings_and_fixes_a_mismatch(full):
    report = _use(full, "auto", models__embedding__model=MINILM.key)
    context = full.context(models__embedding__model=MINILM.key)

    assert (report.model.name, report.embedded) == (MINILM.name, 3)
    assert full.search("cat", context=context, mode="vector").hits
