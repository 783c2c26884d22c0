(call target: (identifier) @kind (arguments . (alias) @name)
    (#any-of? @kind "defmodule" "defprotocol" "defimpl")) @container
(call target: (identifier) @kind (arguments . (string) @name) (do_block)
    (#eq? @kind "describe")) @container
(call target: (identifier) @kind (arguments . (string) @name) (do_block)
    (#any-of? @kind "test" "property")) @function
(call target: (identifier) @kind
    (arguments . [(identifier) (call) (binary_operator)] @name)
    (#any-of? @kind "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp"
     "defdelegate" "defn" "defnp")) @function
