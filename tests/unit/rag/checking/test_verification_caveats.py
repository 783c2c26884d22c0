from kebab.rag.checking.verification import WarningCode


def test_callers_know_these_codes():
    assert [one.value for one in WarningCode] == [
        "unknown_marker",
        "wrong_marker",
        "unsupported_claim",
        "uncited_claim",
        "no_claim",
    ]
