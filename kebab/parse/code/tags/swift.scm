(init_declaration "init" @name) @function
(deinit_declaration "deinit" @name) @function
(subscript_declaration "subscript" @name) @function
