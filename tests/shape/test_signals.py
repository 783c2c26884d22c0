"""A code stands in the catalogue only, and a package raises what its layer may."""

import ast
import re
from collections.abc import Iterator

import pytest

from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Origin
from tests.shape.tree import ROOT, Module, list_modules

ROWS = {row.__name__: row for row in build_catalog().values()}
HOME = "kebab.errors"
ADAPTERS = (
    "kebab.cluster",
    "kebab.embed",
    "kebab.limits",
    "kebab.llm",
    "kebab.parse",
    "kebab.source",
    "kebab.store",
)
TRANSLATIONS = ("kebab.errors.system", "kebab.errors.system")
"""Where the file system and the import system are translated for everybody."""
SURFACES = ("kebab.app", "kebab.cli", "kebab.server")
MAY_RAISE = {
    Origin.CORE: ("kebab",),
    # The server is the adapter of its own sockets, files and deadlines.
    Origin.ADAPTER: (*ADAPTERS, *TRANSLATIONS, "kebab.plugins", "kebab.server"),
    Origin.SURFACE: SURFACES,
}
"""Where a signal may be made, by its origin; whoever catches one may raise it again anywhere."""
_CODES = set(build_catalog())
_NAMED = re.compile(rf"(?<![\w.])(?:{'|'.join(one for one in _CODES if '_' in one)})(?![\w.])")


def list_literals(module: Module) -> Iterator[str]:
    """Yield every string of a module that is no docstring."""
    prose = {id(node.value) for node in module.nodes if isinstance(node, ast.Expr)}
    for node in module.nodes:
        if isinstance(node, ast.Constant) and id(node) not in prose:
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            if isinstance(text, str):
                yield text


def find_stray_codes(module: Module) -> list[str]:
    """Return the strings of a module that are a code or name one, where none may stand."""
    if is_within(module, (HOME,)):
        return []
    return [text for text in list_literals(module) if text in _CODES or _NAMED.search(text)]


def list_signals_made(module: Module) -> Iterator[str]:
    """Yield the class of each signal that a module makes, by its name in the catalogue."""
    names = map_signal_names(module)
    for node in module.nodes if names else ():
        for part in list_calls(node):
            name = names.get(read_name(part), "")
            if name in ROWS:
                yield name


def list_calls(node: ast.AST) -> list[ast.expr]:
    """Return what a node makes things of: what it calls, raises, or hands on to be called."""
    if isinstance(node, ast.Call):
        handed = node.args[:1] if read_name(node.func).endswith("partial") else []
        return [node.func, *handed]
    return [node.exc] if isinstance(node, ast.Raise) and node.exc is not None else []


def read_name(node: ast.expr) -> str:
    """Return a name as it stands in the source, nothing for any other expression."""
    if isinstance(node, ast.Attribute):
        return f"{read_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def map_signal_names(module: Module) -> dict[str, str]:
    """Return the names under which a module knows the rows of the catalogue."""
    found: dict[str, str] = {}
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "kebab.errors.catalog":
            found |= {alias.asname or alias.name: alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module == "kebab.errors":
            catalogs = (alias for alias in node.names if alias.name == "catalog")
            found |= map_attributes(alias.asname or alias.name for alias in catalogs)
        if isinstance(node, ast.Import):
            catalogs = (alias for alias in node.names if alias.name == "kebab.errors.catalog")
            found |= map_attributes(alias.asname or alias.name for alias in catalogs)
    return found


def map_attributes(prefixes: Iterator[str]) -> dict[str, str]:
    """Return the names of the rows as attributes of a module."""
    return {f"{prefix}.{name}": name for prefix in prefixes for name in ROWS}


def find_out_of_place(module: Module) -> list[str]:
    """Return the signals that a module makes and may not."""
    return [
        name
        for name in list_signals_made(module)
        if not is_within(module, MAY_RAISE[ROWS[name].origin])
    ]


def is_within(module: Module, packages: tuple[str, ...]) -> bool:
    """Return whether a module is one of these packages or stands below one."""
    return any(module.name == one or module.name.startswith(f"{one}.") for one in packages)


SOURCES = list_modules("kebab")


def test_a_code_stands_in_the_catalogue_only():
    assert {str(module): found for module in SOURCES if (found := find_stray_codes(module))} == {}


def test_packages_raise_what_their_layer_may():
    assert {str(module): found for module in SOURCES if (found := find_out_of_place(module))} == {}


def test_exactly_the_live_rows_are_raised():
    raised = {name for module in SOURCES for name in list_signals_made(module)}

    assert raised == {name for name, row in ROWS.items() if not row.retired}


def test_the_packages_that_the_rules_name_exist():
    named = {name for packages in MAY_RAISE.values() for name in packages}

    assert named <= {module.name for module in SOURCES}


@pytest.fixture
def plant(tmp_path):
    """Write a module into a tree of its own."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (module,) = list_modules("kebab", tmp_path)
        return module

    return write


@pytest.mark.parametrize(
    ("place", "text", "found"),
    [
        ("rag", 'CODE = "model_busy"', ["model_busy"]),
        ("cli", 'if code == "timeout": pass', ["timeout"]),
        ("app", 'HINT = "kebab explain not_indexed"', ["kebab explain not_indexed"]),
        ("app", 'say(f"code: io_error {x}")', ["code: io_error "]),
        ("cli", 'RAW = b"stale_cursor"', ["stale_cursor"]),
        ("rag", 'def f():\n    """Raise `model_busy`."""', []),
        ("rag", 'NAME = "model_busyness"\nOTHER = "a locked door"', []),
        ("errors", 'CODE = "model_busy"', []),
    ],
)
def test_a_stray_code_is_found_in_every_form(plant, place, text, found):
    assert find_stray_codes(plant(f"kebab/{place}/x.py", text)) == found


FROM_CATALOG = "from kebab.errors.catalog import IoError, ReadOnly, UsageInvalid\n"


@pytest.mark.parametrize(
    ("place", "text", "found"),
    [
        ("rag", f"{FROM_CATALOG}raise IoError(path='p', op='read', cause='c')", ["IoError"]),
        ("ingest", f"{FROM_CATALOG}def f(): return IoError(path='p')", ["IoError"]),
        ("search", f"{FROM_CATALOG}raise IoError", ["IoError"]),
        ("app", f"{FROM_CATALOG}make = functools.partial(IoError, op='read')", ["IoError"]),
        ("core", "from kebab.errors.catalog import IoError as E\nraise E()", ["IoError"]),
        ("core", "from kebab.errors import catalog\nraise catalog.IoError()", ["IoError"]),
        ("core", "import kebab.errors.catalog as c\nraise c.IoError()", ["IoError"]),
        ("store", f"{FROM_CATALOG}raise UsageInvalid(option='o')", ["UsageInvalid"]),
        ("ingest", f"{FROM_CATALOG}raise UsageInvalid(option='o')", ["UsageInvalid"]),
        ("store/sqlite", f"{FROM_CATALOG}raise IoError(path='p')", []),
        ("app", f"{FROM_CATALOG}raise UsageInvalid(option='o')", []),
        ("rag", f"{FROM_CATALOG}raise ReadOnly(operation='ask')", []),
        ("store", f"{FROM_CATALOG}raise ReadOnly(operation='ask')", []),
        ("rag", f"{FROM_CATALOG}try: f()\nexcept IoError as e:\n    log(e)\n    raise", []),
        ("rag", f"{FROM_CATALOG}def f(fault: IoError) -> None: raise fault", []),
        ("rag", "class IoError(Exception): pass\nraise IoError()", []),
    ],
)
def test_a_signal_out_of_place_is_found_in_every_form(plant, place, text, found):
    assert find_out_of_place(plant(f"kebab/{place}/x.py", text)) == found


def test_a_tree_elsewhere_has_the_names_that_it_has_here(plant):
    module = plant("kebab/rag/x.py", "")

    assert (module.name, str(module)) == ("kebab.rag.x", "kebab/rag/x.py")
    assert Module(ROOT / "kebab" / "rag" / "engine.py").name == "kebab.rag.engine"
