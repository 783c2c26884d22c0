from kebab.config.settings import Settings


def test_the_build_is_described(kebab):
    assert kebab("schema", "--json").reply["schema_version"] == "schema.v1"
    assert kebab("schema").out.startswith("kebab v")


def test_errors_need_neither_settings_nor_a_knowledge_base(kebab, opened, home):
    ran = kebab("schema", "--errors", "--json", "--config", str(home / "none.toml"))

    assert "not_indexed" in {row["code"] for row in ran.reply["errors"]}
    assert opened[0].settings == Settings()
