from kebab.wire.library import RmRequest


def test_all_names_are_in_one_request(kebab, opened):
    ran = kebab("rm", "a", "b", "--json")

    assert opened[0].asked == [("rm", RmRequest(names=["a", "b"]))]
    assert ran.reply["schema_version"] == "remove_report.v1"


def test_an_unknown_name_is_a_reply(kebab):
    assert kebab("rm", "a", "nowhere").status == 1


def test_without_a_name_it_is_a_usage_error(kebab):
    assert kebab("rm", "--json").fault["code"] == "usage_invalid"
