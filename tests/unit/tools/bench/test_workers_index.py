from kebab.bench.sandbox import Sandbox, write_notes
from kebab.embed.registry import MINILM
from tools.bench.synthetic_index import index_with_synthetic_vectors


def test_a_folder_is_indexed_with_vectors_and_no_model(tmp_path):
    sandbox = Sandbox(tmp_path / "sandbox", tmp_path / "models")

    found = index_with_synthetic_vectors(
        sandbox, write_notes(tmp_path / "files", 10, 1), MINILM.version
    )

    assert found.fault is None
    assert found.chunks >= 10
    assert any(sandbox.data.rglob("*.lance"))


def test_a_folder_that_is_missing_is_a_fault(tmp_path):
    from kebab.bench.sandbox import Corpus

    sandbox = Sandbox(tmp_path / "sandbox", tmp_path / "models")

    assert (
        index_with_synthetic_vectors(
            sandbox, Corpus(tmp_path / "missing", 3, 0), MINILM.version
        ).fault
        is not None
    )
