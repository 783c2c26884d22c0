"""Requests name the languages, the terms and the texts, and their schemas ask for every text."""

import json

from kebab.core.review import GlossaryTerm
from kebab.review.translate_prompts import (
    MAX_FINDINGS,
    TranslationTask,
    build_check_schema,
    build_draft_schema,
    build_rate_schema,
    build_revise_schema,
)


def test_a_draft_is_asked_for_by_number() -> None:
    system, user = TranslationTask("en", "ko").build_draft({1: "One", 3: "Three"}, "Be careful.")
    assert "from English into Korean" in system.content
    assert system.content.endswith("Be careful.")
    assert json.loads(user.content) == [
        {"id": 1, "text": "One"},
        {"id": 3, "text": "Three"},
    ]


def test_a_regional_or_unknown_language_is_named_by_its_tag_too() -> None:
    assert "into Portuguese (pt-BR)" in TranslationTask(None, "pt-BR").build_draft({})[0].content
    assert "into eo" in TranslationTask(None, "eo").build_draft({})[0].content


def test_terms_of_the_target_language_are_named() -> None:
    glossary = [
        GlossaryTerm("kebab", ()),
        GlossaryTerm("색인", (), "ko"),
        GlossaryTerm("x", (), "fr"),
    ]
    prompt = TranslationTask("en", "ko", glossary).build_draft({})[0].content
    assert prompt.endswith("Preferred terms: kebab, 색인.")


def test_a_comparison_has_sources_and_translations() -> None:
    for stage in ("revise", "check", "rate"):
        messages = TranslationTask("en", "ko").build_comparison(stage, {2: ("a", "b")})
        assert json.loads(messages[1].content) == [{"id": 2, "source": "a", "translation": "b"}]


def test_schemas_ask_for_all_numbers_and_nothing_else() -> None:
    for build, keys, least, most in (
        (build_draft_schema, {"text"}, 2, 2),
        (build_revise_schema, {"text"}, 0, 2),
        (build_check_schema, {"side", "kind", "reason", "severity"}, 0, MAX_FINDINGS),
        (build_rate_schema, {"reason", "points"}, 2, 2),
    ):
        items = build([1, 3])["properties"]["items"]
        assert (items.get("minItems", 0), items["maxItems"]) == (least, most)
        entry = items["items"]
        assert set(entry["required"]) == set(entry["properties"]) == {"id", *keys}
        assert entry["properties"]["id"]["enum"] == [1, 3]
        assert entry["additionalProperties"] is False
