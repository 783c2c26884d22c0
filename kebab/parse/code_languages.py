"""Declares the syntax of each programming language: where its tree-sitter grammar has symbols.

One row of the table is one language. The names of nodes are those of its grammar.
"""

from collections.abc import Mapping
from typing import NamedTuple

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
    bodies: tuple[str, ...] = ("class_body", "enum_class_body", "function_body", "block")
    has_clauses: bool = False


_JAVASCRIPT = Syntax(
    "tree_sitter_javascript.language",
    functions=split_names(
        "function_declaration generator_function_declaration method_definition"
        " function_expression generator_function arrow_function"
    ),
    containers=split_names("class_declaration class"),
    wrappers=split_names("export_statement lexical_declaration variable_declaration"),
    blocks=split_names(
        "expression_statement call_expression parenthesized_expression arguments unary_expression"
        " object pair if_statement statement_block else_clause"
    ),
    holders={
        "variable_declarator": "value",
        "assignment_expression": "right",
        "field_definition": "value",
        "pair": "value",
    },
    leads=split_names("comment decorator"),
    imports=split_names("import_statement"),
    names={
        "assignment_expression": "left",
        "field_definition": "property",
        "pair": "key",
    },
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
_C = Syntax(
    "tree_sitter_c.language",
    functions=split_names("function_definition"),
    types=split_names("struct_specifier union_specifier enum_specifier type_definition"),
    values=split_names("preproc_function_def preproc_def declaration"),
    blocks=split_names(
        "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification"
        " declaration_list"
    ),
    imports=split_names("preproc_include"),
    names={
        "function_definition": "declarator",
        "type_definition": "declarator",
        "declaration": "declarator",
    },
)

SYNTAXES: Mapping[str, Syntax] = {
    "bash": Syntax(
        "tree_sitter_bash.language",
        functions=split_names("function_definition"),
        blocks=split_names("if_statement else_clause"),
    ),
    "c": _C,
    "c#": Syntax(
        "tree_sitter_c_sharp.language",
        functions=split_names(
            "method_declaration constructor_declaration destructor_declaration"
            " operator_declaration conversion_operator_declaration local_function_statement"
        ),
        containers=split_names(
            "namespace_declaration class_declaration struct_declaration interface_declaration"
            " record_declaration"
        ),
        types=split_names("enum_declaration delegate_declaration property_declaration"),
        values=split_names("field_declaration"),
        wrappers=split_names("global_statement"),
        blocks=split_names("preproc_if preproc_else preproc_elif preproc_region"),
        imports=split_names("using_directive file_scoped_namespace_declaration"),
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
    "dart": Syntax(
        "tree_sitter_dart.language",
        functions=frozenset(),
        containers=split_names(
            "class_definition mixin_declaration extension_declaration enum_declaration"
        ),
        leads=split_names("comment documentation_comment annotation"),
        imports=split_names("import_or_export"),
        name_nodes=("identifier",),
    ),
    "elixir": Syntax(
        "tree_sitter_elixir.language",
        functions=frozenset(),
        leads=split_names("comment unary_operator"),
        bodies=("do_block",),
        has_clauses=True,
    ),
    "go": Syntax(
        "tree_sitter_go.language",
        functions=split_names("function_declaration method_declaration"),
        types=split_names("type_spec type_alias"),
        values=split_names("const_spec var_spec"),
        wrappers=split_names("type_declaration const_declaration var_declaration"),
        imports=split_names("package_clause import_declaration"),
    ),
    "haskell": Syntax(
        "tree_sitter_haskell.language",
        functions=frozenset(),
        containers=split_names("class instance"),
        types=split_names("data_type newtype type_synonym"),
        blocks=split_names("declarations"),
        leads=split_names("comment haddock pragma"),
        imports=split_names("imports"),
        bodies=("class_declarations", "instance_declarations"),
        has_clauses=True,
    ),
    "java": Syntax(
        "tree_sitter_java.language",
        functions=split_names(
            "method_declaration constructor_declaration compact_constructor_declaration"
        ),
        containers=split_names(
            "class_declaration interface_declaration enum_declaration record_declaration"
            " annotation_type_declaration"
        ),
        values=split_names("field_declaration"),
        blocks=split_names("enum_body_declarations"),
        leads=split_names("line_comment block_comment"),
        imports=split_names("package_declaration import_declaration"),
        names={"field_declaration": "declarator"},
    ),
    "javascript": _JAVASCRIPT,
    "julia": Syntax(
        "tree_sitter_julia.language",
        functions=frozenset(),
        containers=split_names("module_definition"),
        leads=split_names("line_comment block_comment string_literal"),
        imports=split_names("using_statement import_statement export_statement"),
    ),
    "kotlin": Syntax(
        "tree_sitter_kotlin.language",
        functions=split_names("function_declaration"),
        containers=split_names("class_declaration object_declaration"),
        values=split_names("property_declaration"),
        blocks=split_names("companion_object class_body enum_class_body"),
        leads=split_names("line_comment block_comment"),
        imports=split_names("package_header import"),
        name_nodes=("variable_declaration",),
    ),
    "lua": Syntax(
        "tree_sitter_lua.language",
        functions=split_names("function_declaration"),
        blocks=split_names("expression_list table_constructor assignment_statement"),
    ),
    "php": Syntax(
        "tree_sitter_php.language_php",
        functions=split_names("function_definition method_declaration anonymous_function"),
        containers=split_names(
            "class_declaration interface_declaration trait_declaration enum_declaration"
        ),
        wrappers=split_names("expression_statement"),
        blocks=split_names("namespace_definition compound_statement if_statement"),
        holders={"assignment_expression": "right"},
        imports=split_names("namespace_use_declaration"),
        names={"assignment_expression": "left"},
    ),
    "python": Syntax(
        "tree_sitter_python.language",
        functions=split_names("function_definition"),
        containers=split_names("class_definition"),
        values=split_names("assignment type_alias_statement"),
        wrappers=split_names("decorated_definition expression_statement"),
        blocks=split_names(
            "if_statement else_clause elif_clause try_statement except_clause block"
        ),
        imports=split_names("import_statement import_from_statement future_import_statement"),
        names={"assignment": "left", "type_alias_statement": "left"},
    ),
    "ruby": Syntax(
        "tree_sitter_ruby.language",
        functions=split_names("method singleton_method"),
        containers=split_names("class module"),
        values=split_names("assignment"),
        blocks=split_names("call argument_list do_block body_statement if then singleton_class"),
        names={"assignment": "left"},
    ),
    "rust": Syntax(
        "tree_sitter_rust.language",
        functions=split_names("function_item function_signature_item macro_definition"),
        containers=split_names("impl_item trait_item mod_item"),
        types=split_names("struct_item enum_item union_item type_item"),
        values=split_names("const_item static_item"),
        blocks=split_names("foreign_mod_item declaration_list"),
        leads=split_names("line_comment block_comment attribute_item"),
        imports=split_names("use_declaration extern_crate_declaration"),
        names={"impl_item": "type"},
    ),
    "scala": Syntax(
        "tree_sitter_scala.language",
        functions=split_names("function_definition function_declaration"),
        containers=split_names(
            "class_definition object_definition trait_definition enum_definition"
            " given_definition package_object"
        ),
        types=split_names("type_definition"),
        values=split_names("val_definition var_definition"),
        blocks=split_names("extension_definition package_clause template_body"),
        leads=split_names("comment block_comment"),
        imports=split_names("package_clause import_declaration"),
        names={"val_definition": "pattern", "var_definition": "pattern"},
    ),
    "sql": Syntax(
        "tree_sitter_sql.language",
        functions=split_names("create_function create_procedure create_trigger"),
        types=split_names(
            "create_table create_view create_materialized_view create_index create_type"
            " create_schema create_sequence"
        ),
        wrappers=split_names("statement"),
        blocks=split_names("transaction block"),
        leads=split_names("comment marginalia"),
        name_nodes=("object_reference", "identifier"),
    ),
    "swift": Syntax(
        "tree_sitter_swift.language",
        functions=split_names("function_declaration protocol_function_declaration"),
        containers=split_names("class_declaration protocol_declaration"),
        types=split_names("typealias_declaration"),
        values=split_names("property_declaration"),
        leads=split_names("comment multiline_comment"),
        imports=split_names("import_declaration"),
    ),
    "terraform": Syntax(
        "tree_sitter_hcl.language",
        functions=frozenset(),
        blocks=split_names("body"),
        bodies=("body",),
    ),
    "tsx": _TYPESCRIPT._replace(grammar="tree_sitter_typescript.language_tsx"),
    "typescript": _TYPESCRIPT,
    "zig": Syntax(
        "tree_sitter_zig.language",
        functions=split_names("function_declaration"),
        blocks=split_names("expression_statement return_expression struct_declaration"),
        bodies=("block", "struct_declaration", "union_declaration", "enum_declaration"),
    ),
}
"""The syntax of each language, by its name in citations; `tsx` is TypeScript with elements."""
