(assignment_statement (variable_list . (_) @name)
    (expression_list . (function_definition))) @function
(field name: (identifier) @name value: (function_definition)) @function
(variable_declaration (assignment_statement (variable_list . (_) @name)
    (expression_list . (table_constructor)))) @value
(variable_declaration (assignment_statement (variable_list . (_) @name)
    (expression_list . (table_constructor (field value: (function_definition)))))) @container
