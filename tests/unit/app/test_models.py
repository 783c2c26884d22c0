import shutil

import pytest

from kebab.app.models import list_models, pull_model, use_model
from kebab.core.progress import Cancel, Progress, ProgressKind, ignore_progress
from kebab.embed.registry import E5_SMALL, MINILM, MODELS
from kebab.errors.catalog import EmbeddingUnavailable, Locked, ReadOnly, UsageInvalid
from kebab.wire.health import ModelListRequest, ModelPullRequest, ModelUseRequest
from tests.fakes.embedding_server import FakeEmbeddingServer, serve_embeddings


def _use(desk, name, **flags):
    return use_model(desk.context(**flags), ModelUseRequest(name=name), ignore_progress, Cancel())


def _pull(desk, name, **flags):
    return pull_model(desk.context(**flags), ModelPullRequest(name=name), ignore_progress, Cancel())


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
    with pytest.raises(ReadOnly):
        work(desk, name, read_only=True)

    assert not desk.data.exists()


def test_changing_the_model_embeds_everything_again(full):
    report = _use(full, MINILM.key)

    assert (report.model.name, report.model.active) == (MINILM.name, True)
    assert (report.embedded, report.pending, report.fetched) == (3, 0, False)
    assert full.search("cat", mode="vector").embedding_versions == [MINILM.version]
    assert full.again().embedding.version == MINILM.version


def test_a_model_can_be_chosen_before_the_first_ingest(lab):
    _use(lab, MINILM.key)
    lab.write("a.md", "the cat\n")

    assert lab.ingest().embedding.version == MINILM.version


def test_the_next_ingest_completes_a_cancelled_change(full):
    cancel = Cancel()
    cancel.request()
    report = use_model(full.context(), ModelUseRequest(name=MINILM.key), ignore_progress, cancel)

    assert (report.embedded, report.pending, report.model.active) == (0, 3, True)
    assert full.search("cat").hits
    assert full.again().embedding.embedded == 3
    assert full.search("cat", mode="vector").embedding_versions == [MINILM.version]


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

    assert full.search("cat", mode="vector").embedding_versions == [E5_SMALL.version]


def test_a_model_that_contradicts_the_settings_is_refused_before_downloading(desk):
    with pytest.raises(UsageInvalid, match=MINILM.key):
        _use(desk, E5_SMALL.key, models__embedding__model=MINILM.key)


def test_auto_is_the_model_of_the_settings_and_fixes_a_mismatch(full):
    report = _use(full, "auto", models__embedding__model=MINILM.key)
    context = full.context(models__embedding__model=MINILM.key)

    assert (report.model.name, report.embedded) == (MINILM.name, 3)
    assert full.search("cat", context=context, mode="vector").hits


def test_a_folder_needs_the_name_of_its_model(full, tmp_path):
    request = ModelUseRequest(name="auto", folder=str(tmp_path))

    with pytest.raises(UsageInvalid, match="name the model"):
        use_model(full.context(), request, ignore_progress, Cancel())


@pytest.mark.parametrize("folder", [None, "weights"], ids=["server", "folder"])
def test_no_folder_has_the_files_of_a_model_of_a_server(desk, folder):
    with serve_embeddings(FakeEmbeddingServer()) as server:
        embedding = {"provider": "ollama", "model": "nomic-embed-text", "endpoint": server.url}
        flags = {f"models__embedding__{name}": value for name, value in embedding.items()}
        request = ModelPullRequest(name="nomic-embed-text", folder=folder)
        if folder is None:
            report = pull_model(desk.context(**flags), request, ignore_progress, Cancel())
            assert (report.model.installed, report.fetched) == (True, False)
            return
        with pytest.raises(UsageInvalid, match="is a model of a server"):
            pull_model(desk.context(**flags), request, ignore_progress, Cancel())
