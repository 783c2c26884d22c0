from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.bench import nearest

VERSION = "fastembed-x-8-v1"


def unit(count: int) -> Any:
    rows = np.random.default_rng(0).standard_normal((count, 8)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_more_vectors_are_made_of_real_ones_and_have_length_one() -> None:
    made = np.concatenate(list(nearest.multiply(unit(50), 300)))

    assert len(made) == 300
    assert np.array_equal(made[:50], unit(50))
    assert np.linalg.norm(made, axis=1) == pytest.approx(np.ones(300), abs=1e-5)


def test_the_vectors_of_a_knowledge_base_are_read_as_they_were_written(tmp_path: Path) -> None:
    nearest.fill(tmp_path, VERSION, unit(50), 50)
    version, real = nearest.load_vectors(tmp_path)

    assert version == VERSION
    assert np.array_equal(real, unit(50))


def test_recall_is_the_share_of_the_nearest_that_were_found() -> None:
    assert nearest.compute_recall([[1, 2, 9], [4, 5]], [[1, 2, 3], [4, 6]], 2) == 0.75
