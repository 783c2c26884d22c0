import pytest

from kebab.core.chunks import CosineScale, ProbePair, build_embed_text
from kebab.core.ids import Key


def test_context_stands_between_the_headings_and_the_text():
    assert build_embed_text("T", (), "row", "| name |") == "T\n| name |\nrow"
    assert build_embed_text("", (), "row", "| name |") == "| name |\nrow"
    assert build_embed_text("T", (), "") == "T\n"


@pytest.mark.parametrize(("cosine", "share"), [(-0.2, 0.0), (1.2, 1.0)])
def test_a_cosine_is_normalised_to_evidence_between_0_and_1(cosine, share):
    assert CosineScale(0.7, 1.0).normalise(cosine) == pytest.approx(share)


def test_many_cosines_are_normalised_like_each_one():
    scale = CosineScale(0.3, 0.9)
    cosines = {Key(number): number / 10 for number in range(-2, 12)}

    assert scale.normalise_all(cosines) == {
        key: scale.normalise(value) for key, value in cosines.items()
    }


def test_a_probe_accepts_cosines_within_the_tolerance():
    probe = ProbePair(cosine=0.7553, tolerance=0.03)

    assert probe.accepts(0.76)
    assert not probe.accepts(0.70)
    assert not probe.accepts(float("nan"))
