from kebab.rag.checking.claims import WarningCode


def test_the_warning_codes_are_stable():
    assert [one.value for one in WarningCode] == [
        "unknown_marker",
        "wrong_marker",
        "marker_corrected",
        "unsupported_claim",
        "uncited_claim",
        "unsupported_code",
        "unsupported_comment",
        "no_claim",
    ]
