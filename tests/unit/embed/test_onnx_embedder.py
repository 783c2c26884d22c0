import random
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from kebab.embed import install
from kebab.embed.catalogue import list_catalogue
from kebab.embed.onnx_embedder import QUERY_WINDOWS, Deadline, OnnxEmbedder, RunTime
from kebab.embed.registry import E5_SMALL, MINILM, find_named
from kebab.errors.catalog import TimedOut
from kebab.limits.deadline import WALL_FACTOR
from tests.fakes import tiny_model
from tests.fakes.fastembed_reference import FastembedReference


@pytest.fixture
def embedder(tmp_path):
    return OnnxEmbedder(tiny_model.install_model(E5_SMALL, tmp_path), E5_SMALL)


def test_a_long_text_is_the_mean_of_its_windows_by_tokens(tmp_path):
    embedder = OnnxEmbedder(tiny_model.install_model(MINILM, tmp_path), MINILM)
    first, second = "cat " * MINILM.window, "blue sky " * 20

    whole = embedder.embed_query(first + second)

    weighted = embedder.embed_query(first) * 256 + embedder.embed_query(second) * 42
    assert np.allclose(whole, weighted / np.linalg.norm(weighted), atol=1e-5)


@pytest.mark.parametrize("word", ["cat ", "a.", "x" * 90 + " "])
def test_of_a_pasted_page_a_few_windows_are_embedded(tmp_path, monkeypatch, word):
    embedder = OnnxEmbedder(tiny_model.install_model(MINILM, tmp_path), MINILM)
    runs, characters = [], []
    start_run, split_windows = embedder._session.start_run, embedder._tokenizer.split_windows

    def count_run(windows):
        runs.append(len(windows))
        return start_run(windows)

    def count_text(texts, prefix):
        characters.append(sum(map(len, texts)))
        return split_windows(texts, prefix)

    monkeypatch.setattr(embedder._session, "start_run", count_run)
    monkeypatch.setattr(embedder._tokenizer, "split_windows", count_text)
    embedder.embed_query(word * (100_000 // len(word)))

    assert sum(runs) <= QUERY_WINDOWS
    assert sum(characters) <= QUERY_WINDOWS * MINILM.window * 16


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

    with pytest.raises(TimedOut):
        list(embedder.embed_passages([f"cat {'sky ' * 2000}"] * 100))


def test_tokens_are_counted_without_the_model(embedder, tmp_path):
    (tmp_path / E5_SMALL.version / install.MODEL_FILE).unlink()

    assert embedder.count_tokens(["the cat"]) == [2]


def test_scripts_follow_the_model(tmp_path, embedder):
    assert embedder.supports("데이터")
    assert not OnnxEmbedder(tmp_path, MINILM).supports("데이터")


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


@pytest.mark.weights
def test_real_weights_give_the_probe_cosine(minilm_dir):
    embedder = OnnxEmbedder(minilm_dir, MINILM)
    food = embedder.embed_query("A man is eating food.")
    bread = embedder.embed_query("A man is eating a piece of bread.")
    baby = embedder.embed_query("The girl is carrying a baby.")

    assert food @ bread == pytest.approx(0.7553, abs=0.03)
    assert food @ baby < 0.1


BGE = find_named("BAAI/bge-small-en-v1.5", list_catalogue())
assert BGE is not None
CHANCE = random.Random(5)
TEXTS = [" ".join(CHANCE.choices(tiny_model.WORDS[4:], k=size)) for size in (1, 2, 5, 17, 60, 200)]


def hot(directory, model, texts):
    return np.vstack([matrix for _, matrix in OnnxEmbedder(directory, model).embed_passages(texts)])


@pytest.mark.parametrize("model", [MINILM, E5_SMALL, BGE], ids=["minilm", "e5", "bge"])
@pytest.mark.parametrize("batch", [1, 256])
def test_the_hot_path_equals_fastembed(tmp_path, model, batch):
    directory = tiny_model.install_model(model, tmp_path)

    expected = FastembedReference(directory, model, threads=1).embed_passages(TEXTS, batch)

    assert np.abs(hot(directory, model, TEXTS) - expected).max() < 1e-5


@pytest.mark.weights
def test_the_hot_path_equals_fastembed_on_real_weights(minilm_dir):
    texts = [
        "How do I restore a backup?",
        "Köln liegt am Rhein. " * 9,
        "A knowledge base keeps notes; a search finds the passage.",
        "kubectl apply -f deployment.yaml && echo done " * 12,
    ]

    expected = FastembedReference(minilm_dir, MINILM, threads=1).embed_passages(texts, 1)

    assert np.abs(hot(minilm_dir, MINILM, texts) - expected).max() < 1e-5


SHORT, LONG = 100, 600_000


class Options(SimpleNamespace):
    """Run options that tell when they were terminated."""

    def __init__(self):
        super().__init__(told=threading.Event())

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if (name, value) == ("terminate", True):
            self.told.set()


def work(options, run_time, seconds=60.0):
    """Need processor time until terminated; return how much was needed."""
    began = time.thread_time()
    with run_time.measure():
        while not options.told.is_set() and time.thread_time() - began < seconds:
            sum(range(1000))
    return time.thread_time() - began


def watchers():
    return sum(thread.name == "embed-deadline" for thread in threading.enumerate())


def test_what_hangs_is_terminated():
    options, began = Options(), time.monotonic()

    with Deadline(SHORT).limit(options, RunTime()):
        assert options.told.wait(60)

    assert time.monotonic() - began >= WALL_FACTOR * SHORT / 1000


def test_the_time_of_all_threads_of_a_run_counts():
    options, run_time = Options(), RunTime()
    threads = [threading.Thread(target=work, args=(options, run_time)) for _ in range(2)]

    with Deadline(SHORT, threads=2).limit(options, run_time):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert options.told.is_set()
    assert run_time.read() >= SHORT / 1000


def test_a_thread_is_asked_while_it_works():
    options, run_time = Options(), RunTime()
    thread = threading.Thread(target=work, args=(options, run_time))
    thread.start()
    try:
        while run_time.read() < 0.02:
            time.sleep(0.001)
    finally:
        options.told.set()
        thread.join()

    ended = run_time.read()
    sum(range(1_000_000))
    assert run_time.read() == ended >= 0.02


def test_one_thread_watches_all_runs():
    before, deadline = watchers(), Deadline(LONG)

    for _ in range(5):
        with deadline.limit(Options(), RunTime()):
            pass

    assert watchers() == before + 1
