from kebab.wire.published import PublishRequest


def test_the_flags_are_the_fields_of_the_request(kebab, opened):
    ran = kebab("publish", "s3://bucket/base", "--dry-run", "--json")

    request = PublishRequest(dest="s3://bucket/base", dry_run=True)
    assert opened[0].asked == [("publish", request)]
    assert ran.reply["documents"] == 3
