from kebab.wire.library import RmRequest


def test_all_names_are_in_one_request(kebab, opened):
    ran = kebab("rm", "a", "b", "--json")

    assert opened[0].asked == [("rm", RmRequest(names=["a", "b"]))]
    assert ran.reply["schema_version"] == "remove_report.v1"
