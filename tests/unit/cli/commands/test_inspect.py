import pytest


@pytest.mark.parametrize(
    ("what", "form"), [("doc", "doc_inspection"), ("chunk", "chunk_inspection")]
)
def test_what_is_known_is_shown(kebab, what, form):
    assert kebab("inspect", what, "x", "--json").reply["schema_version"] == f"{form}.v1"
    assert "ops/backup.md" in kebab("inspect", what, "x").out


@pytest.mark.parametrize("what", ["doc", "chunk"])
def test_an_unknown_name_is_a_reply(kebab, what):
    ran = kebab("inspect", what, "nowhere", "--json")

    assert (ran.status, ran.err, ran.reply["found"]) == (1, "", False)
    assert kebab("inspect", what, "nowhere").out == "no document named nowhere\n"
