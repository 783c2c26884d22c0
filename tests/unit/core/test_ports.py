from kebab.core.ports import PictureAnswer, describe_answers, format_origin, list_failures
from kebab.errors.catalog import ModelBusy


def test_each_reason_is_said_once_and_a_cut_is_said():
    busy = ModelBusy(endpoint="http://localhost", operation="ocr")
    answers = [PictureAnswer(failure=busy), PictureAnswer("half", is_cut=True)]

    assert list_failures([*answers, *answers]) == (busy,)
    first, second = describe_answers(answers + answers)
    assert (first.endswith(busy.format_message()), "was cut" in second) == (True, True)
    assert describe_answers([PictureAnswer("words"), PictureAnswer()]) == []


def test_the_model_is_named():
    assert format_origin("caption", "eyes") == "caption by eyes"
