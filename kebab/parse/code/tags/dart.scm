((method_signature [
    (constructor_signature name: (_) @name)
    (factory_constructor_signature . (_) @name)
    (function_signature name: (_) @name)
    (getter_signature name: (_) @name)
    (setter_signature name: (_) @name)]) @function . (function_body) @end)
((function_signature name: (_) @name) @function . (function_body) @end)
((getter_signature name: (_) @name) @function . (function_body) @end)
