"""Each third-party library has one home; an import anywhere else, or of another library, fails."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions

import pytest

from kebab.parse.code.symbols import SYNTAXES
from tests.shape.tree import ROOT, Module, list_modules

GRAMMARS = {syntax.grammar.partition(".")[0] for syntax in SYNTAXES.values()}
"""The grammars that `kebab.parse.code.symbols` imports by name."""
HOMES = {
    # The event loop and the threads of the server.
    "anyio": ("kebab.cli.commands.mcp", "kebab.server.mcp", "kebab.server.requests"),
    "apsw": ("kebab.store.sqlite",),
    "charset_normalizer": ("kebab.parse.encoding",),
    "click": ("kebab.cli",),
    "doc2docx": ("kebab.parse",),
    "dochan": ("kebab.parse",),
    "fastembed": (
        "kebab.embed.convert",
        "kebab.embed.install",
        "kebab.embed.onnx_embedder",
    ),
    "httpx": ("kebab.llm",),
    "huggingface_hub": ("kebab.embed.install",),
    "lance_namespace": ("kebab.store.lance",),
    "lancedb": ("kebab.store.lance", "kebab.store.published"),
    "frontmatter": ("kebab.parse.front_matter",),
    # Answers are drawn by it, and it judges what fixes do to a page.
    "markdown_it": (
        "kebab.cli.render.markdown",
        "kebab.review.segments",
        "kebab.server.rendering",
    ),
    "mcp": ("kebab.server.mcp",),
    "mcp_types": ("kebab.server.mcp",),
    "pydantic": ("kebab.server.mcp",),
    # Records and settings are its structs: to declare a dataclass takes fifty times as long.
    "msgspec": (
        "kebab.app",
        "kebab.chunk",
        "kebab.cli",
        "kebab.config",
        "kebab.core",
        "kebab.doctor",
        "kebab.embed",
        "kebab.evals",
        "kebab.ingest",
        "kebab.llm",
        "kebab.parse",
        "kebab.rag",
        "kebab.review",
        "kebab.search",
        "kebab.server",
        "kebab.source.ignore",
        "kebab.store",
        "kebab.text",
        "kebab.wire",
    ),
    "nh3": ("kebab.server.rendering",),
    # Vectors are its arrays wherever they are made, kept or compared, as are tables in memory.
    "numpy": ("kebab.embed", "kebab.search", "kebab.store"),
    "obstore": ("kebab.store.objects",),
    # The graphs of models are built and converted when a model is installed.
    "onnx": ("kebab.embed.convert",),
    "onnxruntime": ("kebab.embed",),
    "pathspec": ("kebab.source.ignore",),
    "PIL": ("kebab.llm.pictures",),
    "platformdirs": ("kebab.config.settings",),
    "prompt_toolkit": ("kebab.cli.picker", "kebab.cli.prompt"),
    "py_rust_stemmers": ("kebab.text.tokenizer",),
    "pyarrow": (
        "kebab.store.lance",
        "kebab.store.published",
    ),
    "pyromark": ("kebab.parse.text.markdown_noise", "kebab.parse.text.markdown_parts"),
    "pygments": ("kebab.server.rendering",),
    "pypdfium2": ("kebab.parse",),
    "python_calamine": ("kebab.parse",),
    "ray": ("kebab.cluster.ray_data",),
    "rich": ("kebab.cli.render",),
    "selectolax": ("kebab.parse.web.html_page",),
    "stopwordsiso": ("kebab.text.language",),
    "starlette": ("kebab.server.application", "kebab.server.page"),
    "tokenizers": ("kebab.embed",),
    "tree_sitter": ("kebab.parse.code.symbols",),
    "uvicorn": ("kebab.server.application",),
    "watchfiles": ("kebab.server.watcher",),
    "yaml": ("kebab.parse", "kebab.cli.commands.install"),
}
RUN_AS_A_PROGRAM = {"pip", "rumdl", "typos"}
COME_WITH_ANOTHER = {
    "anyio": "mcp",
    "lance_namespace": "lancedb",
    "mcp_types": "mcp",
    "pydantic": "mcp",
}


def list_foreign_imports(module: Module) -> Iterator[str]:
    """Yield each third-party library that running the module can import.

    Imports for the type checker alone bind nothing and may stand anywhere.
    """
    pending: list[ast.AST] = [module.syntax]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending.extend(node.orelse)
            continue
        pending.extend(ast.iter_child_nodes(node))
        for name in list_imported(node):
            library = name.partition(".")[0]
            if library != "kebab" and library not in sys.stdlib_module_names:
                yield library


def list_imported(node: ast.AST) -> list[str]:
    """Return the modules that a node imports, by statement or by name."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [str(node.module)]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = ast.unparse(node.func)
        if called in {"import_module", "importlib.import_module", "__import__"}:
            return [str(node.args[0].value)]
    return []


def is_at_home(library: str, module: str) -> bool:
    """Return whether a library may be imported in a module."""
    return any(is_within(home, module) for home in HOMES.get(library, ()))


def is_within(home: str, module: str) -> bool:
    """Return whether a module is a home or stands below it."""
    return module == home or module.startswith(f"{home}.")


def test_libraries_are_imported_at_home_only_and_every_home_is_lived_in():
    used = {module.name: set(list_foreign_imports(module)) for module in list_modules("kebab")}
    users = {library: [module for module in used if library in used[module]] for library in HOMES}

    assert not [
        (module, library)
        for module, libraries in used.items()
        for library in libraries
        if not is_at_home(library, module)
    ]
    assert not [
        (library, home)
        for library, homes in HOMES.items()
        for home in homes
        if not any(is_within(home, user) for user in users[library])
    ]


def test_dependencies_and_imports_are_the_same_libraries():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in extras for line in extras[name])]
    developers = {line for name in ("all", "browser", "checks", "dev") for line in extras[name]}
    declared = {re.split(r"[><=~! \[]", line)[0] for line in lines if line not in developers}
    distributions = packages_distributions()

    imported = {
        distribution.lower().replace("_", "-")
        for library in {*HOMES, *GRAMMARS} - set(COME_WITH_ANOTHER)
        for distribution in distributions[library]
    }

    assert imported | RUN_AS_A_PROGRAM == declared
    assert set(COME_WITH_ANOTHER.values()) <= set(HOMES)


@pytest.mark.parametrize(
    "line",
    ["import lance.dataset", "from lance import x", "importlib.import_module('lance.x')"],
)
def test_an_import_is_seen_in_every_form(line, tmp_path):
    path = tmp_path / "module.py"
    path.write_text(f"def f():\n    {line}\n")

    assert list(list_foreign_imports(Module(path))) == ["lance"]


def test_imports_for_the_type_checker_bind_nothing(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("if TYPE_CHECKING:\n    import numpy\nelse:\n    import lance\n")

    assert list(list_foreign_imports(Module(path))) == ["lance"]
