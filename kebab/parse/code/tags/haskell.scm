(function name: (_) @name) @function
(bind name: (_) @name) @function
(signature name: (_) @name) @function
