(function_definition (signature) @name) @function
(macro_definition (signature) @name) @function
(struct_definition (type_head) @name) @function
(abstract_definition (type_head) @name) @function
(assignment . (call_expression) @name) @function
(const_statement (assignment . (identifier) @name)) @value
