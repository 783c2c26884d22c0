import random
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from kebab.embed.onnx_embedder import FEW, OnnxEmbedder, TextThreads
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.errors.catalog import EmbeddingUnavailable, TimedOut
from tests.fakes import tiny_model


@pytest.fixture
def embedder(tmp_path):
    return OnnxEmbedder(tiny_model.install_model(E5_SMALL, tmp_path), E5_SMALL)


def test_a_walk_that_is_left_early_stops_only_itself(tmp_path):
    embedder = OnnxEmbedder(tiny_model.install_model(MINILM, tmp_path), MINILM, threads=2)
    fresh = OnnxEmbedder(tmp_path / MINILM.version, MINILM)

    for indexes, _ in embedder.embed_passages([f"cat {'sky ' * 200}"] * 200):
        assert indexes == list(range(32))
        break

    assert np.array_equal(embedder.embed_query("the cat"), fresh.embed_query("the cat"))


def test_a_deadline_ends_a_walk_over_passages(tmp_path):
    directory = tiny_model.install_model(MINILM, tmp_path)
    embedder = OnnxEmbedder(directory, MINILM, threads=2, deadline_ms=1)

    with pytest.raises(TimedOut) as caught:
        list(embedder.embed_passages([f"cat {'sky ' * 2000}"] * 100))

    assert (caught.value.operation, caught.value.deadline_ms) == ("embedding a batch", 1)
    assert caught.value.elapsed_ms >= 1


def test_waiting_for_other_programs_does_not_count():
    threads = TextThreads(1, 100)

    assert threads.wait(threads.start(time.sleep, [0.15] * 3)) == [None] * 3


def test_a_run_that_hangs_ends_by_the_clock(monkeypatch):
    monkeypatch.setattr("kebab.limits.deadline.WALL_FACTOR", 2)
    threads, done = TextThreads(1, 100), threading.Event()

    try:
        with pytest.raises(TimedOut) as caught:
            threads.wait(threads.start(lambda _: done.wait(60), [""]))
    finally:
        done.set()

    assert caught.value.elapsed_ms >= 200


@pytest.mark.parametrize(
    ("name", "content"),
    [("model.onnx", "x"), ("tokenizer.json", "{}"), ("tokenizer_config.json", "{}")],
)
def test_a_damaged_file_is_a_signal_of_fastembed_too(tmp_path, name, content):
    directory = tiny_model.install_model(MINILM, tmp_path)
    path = directory / name
    path.write_text(content.ljust(path.stat().st_size))

    with pytest.raises(EmbeddingUnavailable) as caught:
        list(OnnxEmbedder(directory, MINILM).embed_passages(["cat"] * 40))

    assert caught.value.tried == [str(directory)]


def test_importing_the_embedder_loads_nothing_heavy():
    program = (
        "import sys, kebab.embed.onnx_embedder, kebab.embed.install\n"
        "heavy = {'numpy', 'onnx', 'onnxruntime', 'tokenizers', 'fastembed', 'huggingface_hub'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout == "[]\n"


def test_a_question_and_few_passages_do_not_load_fastembed(tmp_path):
    directory = tiny_model.install_model(MINILM, tmp_path)
    program = (
        "import sys, pathlib\n"
        "from kebab.embed.onnx_embedder import OnnxEmbedder\n"
        "from kebab.embed.registry import MINILM\n"
        f"embedder = OnnxEmbedder(pathlib.Path({str(directory)!r}), MINILM)\n"
        "embedder.embed_query('the cat'), list(embedder.embed_passages(['a man']))\n"
        "print('fastembed' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout == "False\n"


@pytest.mark.weights
def test_real_weights_give_the_probe_cosine(minilm_dir):
    embedder = OnnxEmbedder(minilm_dir, MINILM)
    food = embedder.embed_query("A man is eating food.")
    bread = embedder.embed_query("A man is eating a piece of bread.")
    baby = embedder.embed_query("The girl is carrying a baby.")

    assert food @ bread == pytest.approx(0.7553, abs=0.03)
    assert food @ baby < 0.1


CHANCE = random.Random(5)
TEXTS = [
    "",
    "unknown wörter und \ud800 loose surrogates",
    *(" ".join(CHANCE.choices(tiny_model.WORDS[4:], k=size)) for size in (1, 2, 5, 17, 60, 900)),
]
REAL_TEXTS = [
    "How do I restore a backup?",
    "Köln liegt am Rhein. " * 9,
    "A knowledge base keeps notes; a search finds the passage.",
    "kubectl apply -f deployment.yaml && echo done " * 60,
    "검색은 문서에서 답을 찾는다.",
]


def measure_difference(embedder, texts):
    """Return how much the vectors of fastembed differ from those of the encoder."""
    few = np.vstack([found for text in texts for _, found in embedder.embed_passages([text])])
    enough = [*texts, *texts[:1] * FEW]
    many = np.vstack([found for _, found in embedder.embed_passages(enough)])
    assert embedder._fastembed is not None
    return np.abs(few - many[: len(texts)]).max()


@pytest.mark.parametrize("model", [MINILM, E5_SMALL], ids=["minilm", "e5"])
def test_few_passages_have_the_vectors_that_fastembed_gives(tmp_path, model):
    embedder = OnnxEmbedder(tiny_model.install_model(model, tmp_path), model)

    assert measure_difference(embedder, TEXTS) < 1e-5


@pytest.mark.weights
@pytest.mark.parametrize(("fixture", "model"), [("minilm_dir", MINILM), ("e5_dir", E5_SMALL)])
def test_real_weights_give_the_vectors_of_fastembed(request, fixture, model):
    embedder = OnnxEmbedder(request.getfixturevalue(fixture), model)

    assert measure_difference(embedder, REAL_TEXTS) < 1e-5
