from kebab.wire.archive import ExportRequest


def test_the_flags_are_the_fields_of_the_request(kebab, opened):
    ran = kebab("export", "base.zip", "--force", "--without-sessions", "--json")

    request = ExportRequest(path="base.zip", force=True, without_sessions=True)
    assert opened[0].asked == [("export", request)]
    assert ran.reply["manifest"]["documents"] == 3


def test_the_passages_are_written_for_other_systems(kebab, opened):
    kebab("export", "x.parquet", "--format", "parquet", "--json")

    assert opened[0].asked == [("export", ExportRequest(path="x.parquet", format="parquet"))]
