"""Declares the syntax of each programming language: where its tree-sitter grammar has symbols.

One row of the table is one language. The names of nodes are those of its grammar.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kebab.text.normalize import split_names


class Syntax(NamedTuple):
    """The node types of a language that say where its symbols are.

    `grammar` is the module of the grammar and its function. `functions` and `types` are symbols as
    a whole. `containers` are symbols that have further symbols inside. `values` are symbols when
    they are long. `wrappers` belong to the symbol inside them, as `export` and decorators do; the
    symbols inside `blocks` stand beside others, as those of a conditional do. `holders` name a
    function, a class or a value that is assigned to them: the field is that of what is assigned.
    `leads` stand above their symbol: comments, attributes. `names` gives the field of a symbol's
    name where it is not `name`, and `name_nodes` the types of a child that is the name of a symbol
    without such a field. `bodies` are the types of a body that is no field `body`. Several symbols
    of one name in a row are one where `has_clauses` is true.

    The tree-sitter query `tags/LANGUAGE.scm` finds the symbols that the type of their node does not
    tell. It captures the node as `@container`, `@function` or `@value`, its name as `@name`, and
    the last node as `@end` where the symbol has several.
    """

    grammar: str
    functions: frozenset[str] = frozenset()
    containers: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    holders: Mapping[str, str] = {}
    leads: frozenset[str] = frozenset({"comment"})
    imports: frozenset[str] = frozenset()
    names: Mapping[str, str] = {}
    name_nodes: frozenset[str] = frozenset()
    bodies: frozenset[str] = split_names("class_body enum_class_body function_body block")
    has_clauses: bool = False


def _declare(grammar: str, **fields: Any) -> Syntax:
    """Return a syntax, whose types of nodes are written as words."""
    values: dict[str, Any] = {
        name: split_names(value) if isinstance(value, str) else value
        for name, value in fields.items()
    }
    return Syntax(grammar, **values)


_JAVASCRIPT = _declare(
    "tree_sitter_javascript.language",
    functions="function_declaration generator_function_declaration method_definition"
    " function_expression generator_function arrow_function",
    containers="class_declaration class",
    wrappers="export_statement lexical_declaration variable_declaration",
    blocks="expression_statement call_expression parenthesized_expression arguments"
    " unary_expression object pair if_statement statement_block else_clause",
    holders={
        "variable_declarator": "value",
        "assignment_expression": "right",
        "field_definition": "value",
        "pair": "value",
    },
    leads="comment decorator",
    imports="import_statement",
    names={"assignment_expression": "left", "field_definition": "property", "pair": "key"},
)
_TYPESCRIPT = _JAVASCRIPT._replace(
    grammar="tree_sitter_typescript.language_typescript",
    containers=_JAVASCRIPT.containers
    | split_names("abstract_class_declaration internal_module module"),
    types=split_names("interface_declaration type_alias_declaration enum_declaration"),
    wrappers=_JAVASCRIPT.wrappers | split_names("ambient_declaration"),
    holders={
        "variable_declarator": "value",
        "assignment_expression": "right",
        "public_field_definition": "value",
        "pair": "value",
    },
    names={"assignment_expression": "left", "pair": "key"},
)
_C = _declare(
    "tree_sitter_c.language",
    functions="function_definition",
    types="struct_specifier union_specifier enum_specifier type_definition",
    values="preproc_function_def preproc_def declaration",
    blocks="preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef"
    " linkage_specification declaration_list",
    imports="preproc_include",
    names={
        "function_definition": "declarator",
        "type_definition": "declarator",
        "declaration": "declarator",
    },
)

SYNTAXES: Mapping[str, Syntax] = {
    "bash": _declare(
        "tree_sitter_bash.language",
        functions="function_definition",
        blocks="if_statement else_clause",
    ),
    "c": _C,
    "c#": _declare(
        "tree_sitter_c_sharp.language",
        functions="method_declaration constructor_declaration destructor_declaration"
        " operator_declaration conversion_operator_declaration local_function_statement",
        containers="namespace_declaration class_declaration struct_declaration"
        " interface_declaration record_declaration",
        types="enum_declaration delegate_declaration property_declaration",
        values="field_declaration",
        wrappers="global_statement",
        blocks="preproc_if preproc_else preproc_elif preproc_region",
        imports="using_directive file_scoped_namespace_declaration",
        names={"operator_declaration": "operator", "conversion_operator_declaration": "type"},
    ),
    "c++": _C._replace(
        grammar="tree_sitter_cpp.language",
        containers=split_names("class_specifier struct_specifier namespace_definition"),
        types=split_names("union_specifier enum_specifier type_definition concept_definition"),
        wrappers=split_names("template_declaration"),
        blocks=_C.blocks | {"field_declaration"},
        leads=split_names("comment access_specifier"),
    ),
    "dart": _declare(
        "tree_sitter_dart.language",
        containers="class_definition mixin_declaration extension_declaration enum_declaration",
        leads="comment documentation_comment annotation",
        imports="import_or_export",
        name_nodes="identifier",
    ),
    "elixir": _declare(
        "tree_sitter_elixir.language",
        leads="comment unary_operator",
        bodies="do_block",
        has_clauses=True,
    ),
    "go": _declare(
        "tree_sitter_go.language",
        functions="function_declaration method_declaration",
        types="type_spec type_alias",
        values="const_spec var_spec",
        wrappers="type_declaration const_declaration var_declaration",
        imports="package_clause import_declaration",
    ),
    "haskell": _declare(
        "tree_sitter_haskell.language",
        containers="class instance",
        types="data_type newtype type_synonym",
        blocks="declarations",
        leads="comment haddock pragma",
        imports="imports",
        bodies="class_declarations instance_declarations",
        has_clauses=True,
    ),
    "java": _declare(
        "tree_sitter_java.language",
        functions="method_declaration constructor_declaration compact_constructor_declaration",
        containers="class_declaration interface_declaration enum_declaration record_declaration"
        " annotation_type_declaration",
        values="field_declaration",
        blocks="enum_body_declarations",
        leads="line_comment block_comment",
        imports="package_declaration import_declaration",
        names={"field_declaration": "declarator"},
    ),
    "javascript": _JAVASCRIPT,
    "julia": _declare(
        "tree_sitter_julia.language",
        containers="module_definition",
        leads="line_comment block_comment string_literal",
        imports="using_statement import_statement export_statement",
    ),
    "kotlin": _declare(
        "tree_sitter_kotlin.language",
        functions="function_declaration",
        containers="class_declaration object_declaration",
        values="property_declaration",
        blocks="companion_object class_body enum_class_body",
        leads="line_comment block_comment",
        imports="package_header import",
        name_nodes="variable_declaration",
    ),
    "lua": _declare(
        "tree_sitter_lua.language",
        functions="function_declaration",
        blocks="expression_list table_constructor assignment_statement",
    ),
    "php": _declare(
        "tree_sitter_php.language_php",
        functions="function_definition method_declaration anonymous_function",
        containers="class_declaration interface_declaration trait_declaration enum_declaration",
        wrappers="expression_statement",
        blocks="namespace_definition compound_statement if_statement",
        holders={"assignment_expression": "right"},
        imports="namespace_use_declaration",
        names={"assignment_expression": "left"},
    ),
    "python": _declare(
        "tree_sitter_python.language",
        functions="function_definition",
        containers="class_definition",
        values="assignment type_alias_statement",
        wrappers="decorated_definition expression_statement",
        blocks="if_statement else_clause elif_clause try_statement except_clause block",
        imports="import_statement import_from_statement future_import_statement",
        names={"assignment": "left", "type_alias_statement": "left"},
    ),
    "ruby": _declare(
        "tree_sitter_ruby.language",
        functions="method singleton_method",
        containers="class module",
        values="assignment",
        blocks="call argument_list do_block body_statement if then singleton_class",
        names={"assignment": "left"},
    ),
    "rust": _declare(
        "tree_sitter_rust.language",
        functions="function_item function_signature_item macro_definition",
        containers="impl_item trait_item mod_item",
        types="struct_item enum_item union_item type_item",
        values="const_item static_item",
        blocks="foreign_mod_item declaration_list",
        leads="line_comment block_comment attribute_item",
        imports="use_declaration extern_crate_declaration",
        names={"impl_item": "type"},
    ),
    "scala": _declare(
        "tree_sitter_scala.language",
        functions="function_definition function_declaration",
        containers="class_definition object_definition trait_definition enum_definition"
        " given_definition package_object",
        types="type_definition",
        values="val_definition var_definition",
        blocks="extension_definition package_clause template_body",
        leads="comment block_comment",
        imports="package_clause import_declaration",
        names={"val_definition": "pattern", "var_definition": "pattern"},
    ),
    "sql": _declare(
        "tree_sitter_sql.language",
        functions="create_function create_procedure create_trigger",
        types="create_table create_view create_materialized_view create_index create_type"
        " create_schema create_sequence",
        wrappers="statement",
        blocks="transaction block",
        leads="comment marginalia",
        name_nodes="object_reference identifier",
    ),
    "swift": _declare(
        "tree_sitter_swift.language",
        functions="function_declaration protocol_function_declaration",
        containers="class_declaration protocol_declaration",
        types="typealias_declaration",
        values="property_declaration",
        leads="comment multiline_comment",
        imports="import_declaration",
    ),
    "terraform": _declare("tree_sitter_hcl.language", blocks="body", bodies="body"),
    "tsx": _TYPESCRIPT._replace(grammar="tree_sitter_typescript.language_tsx"),
    "typescript": _TYPESCRIPT,
    "zig": _declare(
        "tree_sitter_zig.language",
        functions="function_declaration",
        blocks="expression_statement return_expression struct_declaration",
        bodies="block struct_declaration union_declaration enum_declaration",
    ),
}
"""The syntax of each language, by its name in citations; `tsx` is TypeScript with elements."""
