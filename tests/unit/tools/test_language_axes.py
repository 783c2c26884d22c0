import numpy as np
import pytest

from kebab.core.chunks import remove_language
from tests.fakes.embedder import HashingEmbedder
from tools.language_axes import fit_axes, measure_differences


def test_the_axes_are_the_directions_in_which_parallel_texts_differ(tmp_path):
    for language, word in (("de", "und"), ("en", "and"), ("es", "y")):
        lines = [f"{word} {topic}" for topic in ("oil", "sky", "bread")]
        (tmp_path / f"{language}.txt").write_text("\n".join(lines))
    embedder = HashingEmbedder()

    axes = fit_axes([measure_differences(tmp_path, embedder)], 2)
    one, other = (embedder.embed_query(text) for text in ("und oil", "and oil"))

    assert axes.shape == (2, embedder.dimension)
    assert one @ other < 0.6
    assert float(remove_language(one, axes) @ remove_language(other, axes)) == pytest.approx(
        1.0, abs=0.1
    )
    assert np.allclose(axes @ axes.T, np.eye(2), atol=1e-5)
