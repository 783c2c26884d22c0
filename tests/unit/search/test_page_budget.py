import pytest

from kebab.search.page import estimate_hit_tokens, estimate_text_tokens


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("word " * 30, 50, 60), ("서울" * 30, 60, 100), ("", 0, 0), ('"\\\n\t' * 9, 20, 30)],
)
def test_text_in_other_scripts_costs_more_tokens(text, low, high):
    assert low <= estimate_text_tokens(text) <= high


def test_a_hit_costs_at_least_a_token_for_three_characters_of_its_json(base):
    base.add("메모/노트.md", "The oil embargo. " * 20, title="제목", tags=("태그",))
    [hit] = base.engine().search(_query("oil")).hits

    assert estimate_hit_tokens(hit) > _json_size(hit) / 3


def _query(text):
    from kebab.core.queries import Query

    return Query(text=text)


def _json_size(hit):
    import msgspec

    from kebab.app.conversions import to_search_hit

    return len(msgspec.json.encode(to_search_hit(hit)).decode())
