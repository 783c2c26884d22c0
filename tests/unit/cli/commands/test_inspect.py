import pytest


@pytest.mark.parametrize(
    ("what", "form"), [("doc", "doc_inspection"), ("chunk", "chunk_inspection")]
)
def test_what_is_known_is_shown(kebab, what, form):
    assert kebab("inspect", what, "x", "--json").reply["schema_version"] == f"{form}.v1"
    assert "ops/backup.md" in kebab("inspect", what, "x").out
