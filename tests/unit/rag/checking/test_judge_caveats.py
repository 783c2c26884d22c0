from kebab.rag.checking.judge import Caveat


def test_callers_know_these_codes():
    assert [one.value for one in Caveat] == [
        "unknown_marker",
        "wrong_marker",
        "unsupported_claim",
        "uncited_claim",
        "no_claim",
    ]
