"""Only `kebab.platform` uses what some systems lack, and asks which system runs."""

import ast
from collections.abc import Iterator

import pytest

from tests.shape.tree import Module, list_modules
from tools.other_systems.stubs import SYSTEMS, is_missing, list_missing_names

HOME = "kebab.platform"
OPTIONAL = {("kebab.cli.prompt", "readline")}
"""Imports whose absence is handled: Python may be built without the module."""
ASKING = {"sys.platform", "os.name", "platform.system"}
"""What tells the system."""
DESCRIBING = {"kebab.app.audit_log"}
"""Modules that only print the name of the system."""
UNUSABLE = {"pass_fds", "preexec_fn", "start_new_session"}
"""Arguments that Windows refuses or ignores."""
RESOLVERS = {"os.path.realpath", "os.path.abspath"}
RESOLVING = {"kebab.core.files", "kebab.errors.system", "kebab.cli.context"}
"""Where text is resolved: for paths that are compared, and for those that are only shown."""
FILES = ("/proc/", "/dev/", "/sys/", "/tmp/")


def list_violations(module: Module) -> Iterator[str]:
    """Yield each use of a name, a module, an argument or a file that some system lacks."""
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from list_name_violations(node.value.id.removeprefix("_"), node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield from list_name_violations(node.module, alias.name)
            yield from list_module_violations(node.module)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from list_module_violations(alias.name)
        elif isinstance(node, ast.keyword) and node.arg in UNUSABLE:
            yield f"{node.arg}="
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.startswith(FILES)
        ):
            yield node.value


def list_name_violations(module: str, name: str) -> Iterator[str]:
    """Yield a name that a system lacks, or that tells the system."""
    whole = f"{module}.{name}"
    if whole in ASKING or any(name in list_missing_names(module, one) for one in SYSTEMS):
        yield whole


def list_module_violations(module: str) -> Iterator[str]:
    """Yield a module that a system lacks."""
    if any(is_missing(module, one) for one in SYSTEMS):
        yield module


def test_what_some_systems_lack_is_used_in_one_module_only():
    found = {
        (module.name, violation)
        for module in list_modules("kebab")
        if module.name != HOME
        for violation in list_violations(module)
    }

    allowed = {(name, "platform.system") for name in DESCRIBING}
    assert found - allowed == OPTIONAL


def test_paths_as_text_have_slashes():
    """What resolves a path is `kebab.core.files`, unless the result becomes a `Path` at once."""
    calls = [
        (module.name, node)
        for module in list_modules("kebab")
        if module.name not in RESOLVING
        if any(name in module.text for name in RESOLVERS)
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.Call)
    ]
    paths = {id(one) for _, node in calls if ast.unparse(node.func) == "Path" for one in node.args}

    assert not [
        (name, ast.unparse(node))
        for name, node in calls
        if ast.unparse(node.func) in RESOLVERS and id(node) not in paths
    ]


def test_what_some_systems_lack_is_imported_inside_functions():
    (home,) = (module for module in list_modules("kebab") if module.name == HOME)
    tops = [node for node in home.syntax.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [alias.name for node in tops for alias in node.names]

    assert not [name for name in names if any(is_missing(name, one) for one in SYSTEMS)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("os.fork()", "os.fork"),
        ("flags = os.O_NOFOLLOW", "os.O_NOFOLLOW"),
        ("_signal.SIGALRM", "signal.SIGALRM"),
        ("from os import geteuid", "os.geteuid"),
        ("import fcntl", "fcntl"),
        ("from resource import struct_rusage", "resource"),
        ("os.sched_getaffinity(0)", "os.sched_getaffinity"),
        ("if sys.platform == 'linux': pass", "sys.platform"),
        ("Popen([], pass_fds=(3,))", "pass_fds="),
        ("open('/proc/self/statm')", "/proc/self/statm"),
    ],
)
def test_a_violation_is_seen_in_every_form(line, found, tmp_path):
    path = tmp_path / "module.py"
    path.write_text(f"def f():\n    {line}\n", encoding="utf-8")

    assert found in list(list_violations(Module(path)))


def test_what_every_system_has_is_allowed(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("import os, signal\nos.replace(a, b)\nsignal.SIGTERM\nos.O_EXCL\n", "utf-8")

    assert not list(list_violations(Module(path)))
