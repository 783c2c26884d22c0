from kebab.core.files import OcrSettings


def test_a_file_may_take_as_long_as_twenty_slow_pages():
    assert OcrSettings("eng", 5.0).deadline_s == 100.0
    assert OcrSettings("eng", 0.0).deadline_s == 0.0
