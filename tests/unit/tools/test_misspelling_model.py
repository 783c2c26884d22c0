"""The scripted model finds the words of its list in the requests of reviews."""

from kebab.review.prompts import (
    ReviewTask,
    build_contradictions_schema,
    build_fixes_schema,
    build_items_schema,
)
from tools.misspelling_model import MisspellingModel, find_typos

SENTENCES = ["All is well.", "We recieve teh mail."]


def test_it_finds_each_word_with_its_sentence_and_its_fix() -> None:
    messages = ReviewTask("quick", "en").build_detection(SENTENCES, 32)
    found = find_typos(messages, build_items_schema("quick", 2, 32, with_fix=True))
    assert [(one["sentence"], one["words"], one["fix"]) for one in found] == [
        (2, "recieve", "receive"),
        (2, "teh", "the"),
    ]
    [first, _] = find_typos(messages, build_items_schema("deep", 2, 48, with_fix=False))
    assert "fix" not in first


def test_it_fixes_the_findings_that_it_is_asked_about() -> None:
    findings = [(2, "mail", "style", "short"), (2, "teh", "spelling", "misspelled")]
    messages = ReviewTask("deep", "en").build_fixing(SENTENCES, findings, 48)
    assert find_typos(messages, build_fixes_schema(2, 48)) == [
        {"finding": 2, "text": "the", "note": "spelling"}
    ]


def test_it_finds_no_contradictions_and_answers_in_json() -> None:
    messages = ReviewTask("deep", "en").build_comparison(SENTENCES, [], 48)
    schema = build_contradictions_schema(2, 1, 48)
    said: list[str] = []
    model = MisspellingModel()
    completion = model.chat(messages, max_tokens=9, on_text=said.append, schema=schema)
    assert completion.text == "".join(said) == '{"items": []}'
