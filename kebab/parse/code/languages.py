"""Declares the programming languages whose symbols are read: their grammars and node types.

One row is one language. The names of nodes are those of its tree-sitter grammar.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple


class Syntax(NamedTuple):
    """The node types of a language that say where its symbols are.

    `functions` and `types` are symbols as a whole. `containers` are symbols that have further
    symbols inside. `values` are symbols when they are long. `wrappers` belong to the symbol inside
    them, as `export` and decorators do; the symbols inside `blocks` stand beside others, as those
    of a conditional do. `holders` name a function, a class or a value that is assigned to them:
    the field is that of what is assigned. `leads` stand above their symbol: comments, attributes.
    `names` gives the field of a symbol's name where it is not `name`, and `name_nodes` the types
    of a child that is the name of a symbol without such a field.
    """

    grammar: Callable[[], object]
    functions: frozenset[str]
    containers: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    holders: Mapping[str, str] = {}
    leads: frozenset[str] = frozenset({"comment"})
    imports: frozenset[str] = frozenset()
    names: Mapping[str, str] = {}
    name_nodes: tuple[str, ...] = ()


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_JAVASCRIPT = Syntax(
    lambda: import_module("tree_sitter_javascript").language(),
    functions=_set(
        "function_declaration generator_function_declaration method_definition"
        " function_expression generator_function arrow_function"
    ),
    containers=_set("class_declaration class"),
    wrappers=_set("export_statement lexical_declaration variable_declaration"),
    blocks=_set(
        "expression_statement call_expression parenthesized_expression arguments unary_expression"
        " object pair if_statement statement_block else_clause"
    ),
    holders={
        "variable_declarator": "value",
        "assignment_expression": "right",
        "field_definition": "value",
        "pair": "value",
    },
    leads=_set("comment decorator"),
    imports=_set("import_statement"),
    names={
        "assignment_expression": "left",
        "field_definition": "property",
        "pair": "key",
    },
)
_TYPESCRIPT = _JAVASCRIPT._replace(
    grammar=lambda: import_module("tree_sitter_typescript").language_typescript(),
    containers=_JAVASCRIPT.containers | _set("abstract_class_declaration internal_module module"),
    types=_set("interface_declaration type_alias_declaration enum_declaration"),
    wrappers=_JAVASCRIPT.wrappers | _set("ambient_declaration"),
    holders={
        "variable_declarator": "value",
        "assignment_expression": "right",
        "public_field_definition": "value",
        "pair": "value",
    },
    names={"assignment_expression": "left", "pair": "key"},
)
_C = Syntax(
    lambda: import_module("tree_sitter_c").language(),
    functions=_set("function_definition"),
    types=_set("struct_specifier union_specifier enum_specifier type_definition"),
    values=_set("preproc_function_def preproc_def declaration"),
    blocks=_set(
        "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification"
        " declaration_list"
    ),
    imports=_set("preproc_include"),
    names={
        "function_definition": "declarator",
        "type_definition": "declarator",
        "declaration": "declarator",
    },
)

SYNTAXES: Mapping[str, Syntax] = {
    "bash": Syntax(
        lambda: import_module("tree_sitter_bash").language(),
        functions=_set("function_definition"),
        blocks=_set("if_statement else_clause"),
    ),
    "c": _C,
    "c#": Syntax(
        lambda: import_module("tree_sitter_c_sharp").language(),
        functions=_set(
            "method_declaration constructor_declaration destructor_declaration"
            " operator_declaration conversion_operator_declaration local_function_statement"
        ),
        containers=_set(
            "namespace_declaration class_declaration struct_declaration interface_declaration"
            " record_declaration"
        ),
        types=_set("enum_declaration delegate_declaration property_declaration"),
        values=_set("field_declaration"),
        wrappers=_set("global_statement"),
        blocks=_set("preproc_if preproc_else preproc_elif preproc_region"),
        imports=_set("using_directive file_scoped_namespace_declaration"),
        names={"operator_declaration": "operator", "conversion_operator_declaration": "type"},
    ),
    "c++": _C._replace(
        grammar=lambda: import_module("tree_sitter_cpp").language(),
        containers=_set("class_specifier struct_specifier namespace_definition"),
        types=_set("union_specifier enum_specifier type_definition concept_definition"),
        wrappers=_set("template_declaration"),
        blocks=_C.blocks | {"field_declaration"},
        leads=_set("comment access_specifier"),
    ),
    "go": Syntax(
        lambda: import_module("tree_sitter_go").language(),
        functions=_set("function_declaration method_declaration"),
        types=_set("type_spec type_alias"),
        values=_set("const_spec var_spec"),
        wrappers=_set("type_declaration const_declaration var_declaration"),
        imports=_set("package_clause import_declaration"),
    ),
    "java": Syntax(
        lambda: import_module("tree_sitter_java").language(),
        functions=_set(
            "method_declaration constructor_declaration compact_constructor_declaration"
        ),
        containers=_set(
            "class_declaration interface_declaration enum_declaration record_declaration"
            " annotation_type_declaration"
        ),
        values=_set("field_declaration"),
        blocks=_set("enum_body_declarations"),
        leads=_set("line_comment block_comment"),
        imports=_set("package_declaration import_declaration"),
        names={"field_declaration": "declarator"},
    ),
    "javascript": _JAVASCRIPT,
    "kotlin": Syntax(
        lambda: import_module("tree_sitter_kotlin").language(),
        functions=_set("function_declaration"),
        containers=_set("class_declaration object_declaration"),
        values=_set("property_declaration"),
        blocks=_set("companion_object class_body enum_class_body"),
        leads=_set("line_comment block_comment"),
        imports=_set("package_header import"),
        name_nodes=("variable_declaration",),
    ),
    "python": Syntax(
        lambda: import_module("tree_sitter_python").language(),
        functions=_set("function_definition"),
        containers=_set("class_definition"),
        values=_set("assignment type_alias_statement"),
        wrappers=_set("decorated_definition expression_statement"),
        blocks=_set("if_statement else_clause elif_clause try_statement except_clause block"),
        imports=_set("import_statement import_from_statement future_import_statement"),
        names={"assignment": "left", "type_alias_statement": "left"},
    ),
    "ruby": Syntax(
        lambda: import_module("tree_sitter_ruby").language(),
        functions=_set("method singleton_method"),
        containers=_set("class module"),
        values=_set("assignment"),
        blocks=_set("call argument_list do_block body_statement if then singleton_class"),
        names={"assignment": "left"},
    ),
    "rust": Syntax(
        lambda: import_module("tree_sitter_rust").language(),
        functions=_set("function_item function_signature_item macro_definition"),
        containers=_set("impl_item trait_item mod_item"),
        types=_set("struct_item enum_item union_item type_item"),
        values=_set("const_item static_item"),
        blocks=_set("foreign_mod_item declaration_list"),
        leads=_set("line_comment block_comment attribute_item"),
        imports=_set("use_declaration extern_crate_declaration"),
        names={"impl_item": "type"},
    ),
    "sql": Syntax(
        lambda: import_module("tree_sitter_sql").language(),
        functions=_set("create_function create_procedure create_trigger"),
        types=_set(
            "create_table create_view create_materialized_view create_index create_type"
            " create_schema create_sequence"
        ),
        wrappers=_set("statement"),
        blocks=_set("transaction block"),
        leads=_set("comment marginalia"),
        name_nodes=("object_reference", "identifier"),
    ),
    "tsx": _TYPESCRIPT._replace(
        grammar=lambda: import_module("tree_sitter_typescript").language_tsx()
    ),
    "typescript": _TYPESCRIPT,
}
"""The syntax of each language, by its name in citations; `tsx` is TypeScript with elements."""
