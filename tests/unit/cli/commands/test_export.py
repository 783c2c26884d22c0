from kebab.wire.archive import ExportRequest


def test_the_flags_are_the_fields_of_the_request(kebab, opened):
    ran = kebab("export", "base.zip", "--force", "--json")

    assert opened[0].asked == [("export", ExportRequest(path="base.zip", force=True))]
    assert ran.reply["manifest"]["documents"] == 3
