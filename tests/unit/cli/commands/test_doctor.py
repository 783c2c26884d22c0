def test_health_is_the_status(kebab, home):
    well, sick = kebab("doctor", "--json"), kebab("doctor", "--json", "--data-dir", "sick")

    assert (well.status, well.reply["ok"]) == (0, True)
    assert (sick.status, sick.reply["ok"], sick.reply["exit_code"]) == (3, False, 3)
    assert sick.err == ""
