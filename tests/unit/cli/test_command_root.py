from kebab import __version__


def test_the_version_is_one_line(kebab):
    assert kebab("--version").out == f"kebab {__version__}\n"
    assert kebab("--verbose", "--version").out == f"kebab {__version__}\n"


def test_kebab_alone_is_help(kebab):
    ran = kebab()

    assert (ran.status, ran.err) == (0, "")
    assert ran.out == kebab("--help").out


def test_flags_alone_are_a_usage_error(kebab):
    assert kebab("--json").fault["message"] == "missing command"
