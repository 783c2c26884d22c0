import shutil
import time
from threading import Thread

import numpy as np
import pytest

from kebab.app.model_adapters import Embedders
from kebab.config.load import load_settings
from kebab.core.progress import Cancel, ignore_progress
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import E5_SMALL, MINILM, MODELS
from kebab.errors.catalog import (
    ConfigInvalid,
    EmbeddingMismatch,
    EmbeddingUnavailable,
)


@pytest.fixture
def made(tmp_path, tiny_models):
    """What makes the models of a knowledge base without a network."""

    def build(configured="auto", folder=tiny_models, **flags):
        flags = {"offline": True, "models.embedding.model": configured, **flags}
        return Embedders(load_settings(environ={}, flags=flags), folder)

    return build


def _obtained(embedders, stored=None):
    return embedders.obtain(stored, ignore_progress, Cancel())


def test_installed_weights_are_found(made, tiny_models, tmp_path):
    assert made().find_weights(MINILM) == tiny_models / MINILM.version
    assert made(folder=tmp_path).find_weights(MINILM) is None


def test_an_installed_model_is_loaded_once(made):
    embedders = made()
    first = embedders.load_installed(E5_SMALL.version)

    assert first is not None
    assert first.version == E5_SMALL.version
    assert first is embedders.load_installed(E5_SMALL.version)
    assert first is embedders.load_stored(E5_SMALL.version)
    assert first is _obtained(embedders)


def test_a_missing_model_is_none(made, tmp_path):
    assert made(folder=tmp_path).load_installed(E5_SMALL.version) is None


@pytest.mark.parametrize(
    ("configured", "stored", "wanted"),
    [
        ("auto", None, None),
        ("auto", MINILM.version, MINILM.version),
        (MINILM.key, None, MINILM.name),
        (MINILM.key, MINILM.version, MINILM.name),
        ("l6-v2", MINILM.version, MINILM.name),
    ],
)
def test_settings_and_stored_vectors_choose_the_model(made, configured, stored, wanted):
    assert made(configured).choose_model(stored) == wanted


def test_settings_that_contradict_stored_vectors_are_a_mismatch(made):
    with pytest.raises(EmbeddingMismatch) as caught:
        made(MINILM.key).choose_model(E5_SMALL.version)

    assert (caught.value.expected, caught.value.found) == (MINILM.version, E5_SMALL.version)


def test_an_unknown_model_in_the_settings_is_refused(made):
    with pytest.raises(ConfigInvalid) as caught:
        made("word2vec")

    assert caught.value.path == "models.embedding.model"
    assert "word2vec" in caught.value.cause


def test_without_a_choice_the_best_installed_model_is_used(made, tmp_path, tiny_models):
    shutil.copytree(tiny_models / MINILM.version, tmp_path / MINILM.version)

    assert _obtained(made()).version == E5_SMALL.version
    assert _obtained(made(folder=tmp_path)).version == MINILM.version


def test_stored_vectors_and_settings_override_the_best_model(made):
    assert _obtained(made(), MINILM.version).version == MINILM.version
    assert _obtained(made(MINILM.key)).version == MINILM.version


def test_the_model_of_the_stored_vectors_is_not_replaced_by_another(made, tmp_path, tiny_models):
    shutil.copytree(tiny_models / MINILM.version, tmp_path / MINILM.version)

    with pytest.raises(EmbeddingUnavailable):
        _obtained(made(folder=tmp_path), E5_SMALL.version)


def test_offline_nothing_is_downloaded_or_created(made, tmp_path):
    for configured in ("auto", MINILM.key):
        with pytest.raises(EmbeddingUnavailable, match="offline"):
            _obtained(made(configured, tmp_path / "models"))
    assert not (tmp_path / "models").exists()


def test_a_download_returns_the_named_or_the_best_model(made):
    embedders = made(MINILM.key)

    assert embedders.download(MODELS, ignore_progress, Cancel()) is E5_SMALL
    assert embedders.download(MINILM, ignore_progress, Cancel()) is MINILM


def test_a_download_checks_every_byte(made, tmp_path, tiny_models):
    shutil.copytree(tiny_models, tmp_path / "models")
    file = tmp_path / "models" / MINILM.version / "tokenizer.json"
    file.write_text(file.read_text().swapcase())

    with pytest.raises(EmbeddingUnavailable):
        made(folder=tmp_path / "models").download(MINILM, ignore_progress, Cancel())


def test_threads_come_from_the_settings(made):
    one, many = (
        _obtained(made(**{"models.embedding.threads": threads})).embed_query("the cat")
        for threads in (1, 3)
    )

    assert one @ many == pytest.approx(1.0, abs=1e-6)


def test_intact_weights_need_no_repair(made):
    embedders = made()

    assert embedders.is_intact(MINILM.version)
    assert embedders.repair(MINILM.version, ignore_progress, Cancel()) is None


def test_damaged_weights_cannot_be_repaired_offline(made, tiny_models, tmp_path):
    folder = tmp_path / "models"
    shutil.copytree(tiny_models, folder)
    path = folder / MINILM.version / "tokenizer.json"
    path.write_bytes(b"x" * path.stat().st_size)
    embedders = made(folder=folder)

    assert not embedders.is_intact(MINILM.version)
    with pytest.raises(EmbeddingUnavailable):
        embedders.repair(MINILM.version, ignore_progress, Cancel())


def test_threads_that_load_a_model_at_once_share_one(made, monkeypatch):
    class SlowEmbedder(OnnxEmbedder):
        def __init__(self, *args, **options):
            time.sleep(0.02)
            super().__init__(*args, **options)

    monkeypatch.setattr("kebab.embed.onnx_embedder.OnnxEmbedder", SlowEmbedder)
    embedders, found = made(), []
    threads = [
        Thread(target=lambda: found.append(embedders.load_installed(E5_SMALL.version)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_threads_that_share_a_model_get_the_vectors_that_one_gets(made):
    embedder = made(**{"models.embedding.threads": 2}).load_installed(E5_SMALL.version)
    texts = [f"note {number} about sourdough and 검색" for number in range(40)]
    alone = [embedder.embed_query(text).tobytes() for text in texts]
    passages = np.concatenate([rows for _, rows in embedder.embed_passages(texts)]).tobytes()
    shared = made(**{"models.embedding.threads": 2}).load_installed(E5_SMALL.version)
    found: list[bool] = []

    def work():
        found.append([shared.embed_query(text).tobytes() for text in texts] == alone)
        rows = np.concatenate([rows for _, rows in shared.embed_passages(texts)])
        found.append(rows.tobytes() == passages)

    threads = [Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [True] * 12
