from kebab.core.chunks import CosineScale, Key, ProbePair


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
