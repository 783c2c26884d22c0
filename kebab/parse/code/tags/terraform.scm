(body (block . (identifier) @kind (string_lit) @name . (string_lit) @name
    (#eq? @kind "resource")) @function)
(body (block . (identifier) @name . (string_lit) @name . (block_start)) @function)
(body (block . (identifier) @name . (string_lit) @name . (string_lit) @name
    (#not-eq? @name "resource")) @function)
(config_file (body (block . (identifier) @name . (block_start)) @function))
