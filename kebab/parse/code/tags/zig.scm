(variable_declaration . (identifier) @name
    [(struct_declaration) (union_declaration) (enum_declaration)]) @container
(function_declaration name: (identifier) @name type: (builtin_type) @kind
    (#eq? @kind "type")) @container
(test_declaration [(string) (identifier)] @name) @function
(variable_declaration . (identifier) @name) @value
