from kebab.bench.bed import Bed
from kebab.bench.corpus import write_notes
from kebab.bench.grown import grown
from kebab.embed.registry import MINILM


def test_a_folder_is_indexed_with_vectors_and_no_model(tmp_path):
    bed = Bed(tmp_path / "bed", tmp_path / "models")

    found = grown(bed, write_notes(tmp_path / "files", 10, 1), MINILM.version)

    assert found.fault is None
    assert found.chunks >= 10
    assert any(bed.data.rglob("*.lance"))


def test_a_folder_that_is_missing_is_a_fault(tmp_path):
    from kebab.bench.corpus import Corpus

    bed = Bed(tmp_path / "bed", tmp_path / "models")

    assert grown(bed, Corpus(tmp_path / "missing", 3, 0), MINILM.version).fault is not None
