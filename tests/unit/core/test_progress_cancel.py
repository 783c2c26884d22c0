from kebab.core.progress import Cancel


def test_a_request_stays():
    cancel = Cancel()
    assert not cancel.requested

    cancel.request()

    assert cancel.requested
