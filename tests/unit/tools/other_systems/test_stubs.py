import pytest

from tools.other_systems.stubs import is_missing, list_missing_names


@pytest.mark.parametrize(
    ("module", "system", "missing", "present"),
    [
        ("os", "win32", {"fork", "O_NOFOLLOW", "geteuid", "pread"}, {"replace", "O_EXCL", "kill"}),
        ("os", "darwin", {"sched_getaffinity"}, {"fork", "O_NOFOLLOW", "geteuid"}),
        ("signal", "win32", {"SIGALRM", "setitimer"}, {"SIGINT", "SIGTERM", "signal"}),
        ("select", "darwin", {"epoll"}, {"poll", "select"}),
        ("nowhere", "win32", set(), {"fork"}),
    ],
)
def test_the_names_that_a_system_lacks_are_known(module, system, missing, present):
    found = list_missing_names(module, system)

    assert missing <= found
    assert not present & found


@pytest.mark.parametrize(
    ("module", "windows", "macos"),
    [("fcntl", True, False), ("resource", True, False), ("os", False, False)],
)
def test_a_module_without_names_is_missing(module, windows, macos):
    assert is_missing(module, "win32") is windows
    assert is_missing(module, "darwin") is macos
