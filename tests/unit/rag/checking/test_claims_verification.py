import pytest

from kebab.core.answers import Evidence
from kebab.rag.checking.claims import Claim, WarningCode, verify_claims
from kebab.rag.checking.support import IndexedEvidence
from tests.fakes.evidence import stored

PUMP = "The heat pump was installed in Berlin by Anna Meyer. A start takes 45 minutes."
BACKUP = "Backups of all documents run every night with restic on Atlas."
AGAIN = "Notes say that a start of the heat pump takes 45 minutes."


def index_passages(*texts):
    return {
        marker: IndexedEvidence(Evidence(marker=marker, chunk=stored(text, key=marker), text=text))
        for marker, text in enumerate(texts, 1)
    }


def verify(text, *markers, among=(PUMP, BACKUP, AGAIN)):
    (found,) = verify_claims([Claim(0, len(text), text, markers)], index_passages(*among))
    return [one.marker for one in found.supporting], [
        (one.code, one.marker) for one in found.warnings
    ]


@pytest.mark.parametrize(
    ("text", "markers", "supporting", "warnings"),
    [
        ("A start takes 45 minutes.", (1,), [1], []),
        ("A start takes 45 minutes.", (3, 1), [3, 1], []),
        ("A start takes 45 minutes.", (1, 2), [1], [(WarningCode.WRONG_MARKER, 2)]),
        ("A start takes 45 minutes.", (2,), [1], [(WarningCode.MARKER_CORRECTED, 2)]),
        ("A start takes 50 minutes.", (2,), [], [(WarningCode.UNSUPPORTED_CLAIM, 2)]),
        ("시동에는 45분이 걸립니다.", (2,), [1], [(WarningCode.MARKER_CORRECTED, 2)]),
        ("A start takes 50 minutes.", (1, 3), [], [(WarningCode.UNSUPPORTED_CLAIM, None)]),
        ("A start takes 45 minutes.", (), [1], []),
        ("Cats sleep long.", (), [], [(WarningCode.UNCITED_CLAIM, None)]),
        ("Anna Meyer installed the pump and restic runs on Atlas.", (1, 2), [1, 2], []),
        ("Anna Meyer installed the pump and restic runs on Atlas.", (1, 2, 3), [1, 2], []),
    ],
)
def test_passages_support_claims_alone_or_together(text, markers, supporting, warnings):
    assert verify(text, *markers) == (supporting, warnings)


def test_a_claim_of_two_words_needs_both():
    assert verify("Pumps sleep.", 1, among=("A pump is loud.",)) == (
        [],
        [(WarningCode.UNSUPPORTED_CLAIM, 1)],
    )


@pytest.mark.parametrize("markers", [(1, 2), (2, 1)])
def test_a_similar_passage_without_support_is_removed_wherever_it_is_cited(markers):
    alike = "The start of the heat pump is loud."

    found = verify("A start of the heat pump takes 45 minutes.", *markers, among=(AGAIN, alike))

    assert found == ([1], [(WarningCode.WRONG_MARKER, 2)])


def test_of_equal_passages_the_one_cited_before_is_chosen():
    claims = [
        Claim(0, 9, "A start of the heat pump takes 45 minutes.", (3,)),
        Claim(9, 18, "A start takes 45 minutes.", ()),
    ]

    found = verify_claims(claims, index_passages(PUMP, BACKUP, AGAIN))

    assert [[one.marker for one in each.supporting] for each in found] == [[3], [3]]


def test_nothing_is_cited_for_a_claim_that_cannot_be_compared():
    assert verify("고양이는 잠을 잡니다.") == ([], [(WarningCode.UNCITED_CLAIM, None)])
    assert verify("시동에는 45분이 걸립니다.") == ([1], [])


def test_without_passages_no_claim_is_supported():
    assert verify("Cats sleep long.", among=()) == ([], [(WarningCode.UNCITED_CLAIM, None)])


def test_the_nearest_passage_gives_the_reason_for_missing_support():
    (found,) = verify_claims(
        [Claim(0, 1, "A start takes 50 minutes.", ())], index_passages(PUMP, BACKUP)
    )

    assert found.warnings[0].message == "no citation, and no passage contains: 50 minutes"


def test_a_contradiction_of_an_uncited_claim_is_reported():
    (found,) = verify_claims(
        [Claim(0, 1, "The heat pump was not installed in Berlin.", ())], index_passages(PUMP)
    )

    assert found.warnings[0].message == "no citation, and contradicted by passage 1: installed"
