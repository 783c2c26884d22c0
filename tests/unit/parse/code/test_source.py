"""Names in source code without a grammar."""

import pytest

from kebab.core.documents import BlockKind
from kebab.parse.code.source import SourceParser, find_named_spans

CODE = {
    "r": ("#' Adds.\nadd <- function(x) {\n  x + 1\n}\n\nLIMIT <- 3\n", "add 1-2"),
    "clj": (";; Greets.\n(defn greet\n  [name]\n  (str name))\n", "greet 1-2"),
    "erl": ("get(Key) ->\n    ets:lookup(cache, Key).\n", "get 1"),
    "ml": ("let rec fact n =\n  if n = 0 then 1\n  else n * fact (n - 1)\n", "fact 1"),
    "fs": ("module Cache =\n    let get key =\n        key\n", "Cache 1, .get 2"),
    "proto": ("message User {\n  message Address {\n    int x = 1;\n  }\n}", "User 1, .Address 2"),
    "ps1": ("function Get-Thing {\n    return 1\n}\n", "Get-Thing 1"),
    "pl": ("package A;\n\n# Makes it.\nsub new {\n    return 1;\n}\n", "new 3-4"),
    "mk": ("CC = gcc\nbuild: main.o\n\t$(CC) main.o\n", "build 2"),
    "glsl": ("vec4 shade(vec3 p) {\n  return x;\n}\n", "shade 1"),
    "sol": ("contract Bank {\n  function pay() public {\n    x;\n  }\n}\n", "Bank 1, .pay 2"),
    "ex": ("defmodule A do\n  defp f(x) do\n    x\n  end\nend\n", "A 1, .f 2"),
    "lua": ("function M.f(x)\n  return x\nend\n", "M.f 1"),
    "tf": ('resource "aws_instance" "web" {\n  ami = 1\n}\n', "aws_instance 1"),
    "sql": (
        "-- Who buys.\nCREATE TABLE IF NOT EXISTS shop.buyer (\n  id int\n);\n",
        "shop.buyer 1-2",
    ),
    "txt": ("type = 1\nlet x = 2\nreturn (x)\n", ""),
}


@pytest.mark.parametrize("suffix", CODE)
def test_names_are_headings_with_the_lines_of_their_comments(suffix):
    text, expected = CODE[suffix]
    document = SourceParser().parse(text.encode(), f"a.{suffix}")
    found = []
    for block in document.blocks:
        if block.kind is BlockKind.HEADING:
            first, last = (text.count("\n", 0, at) + 1 for at in (block.start, block.end))
            lines = f"{first}" if first == last else f"{first}-{last}"
            found.append(f"{'.' * (block.level - 1)}{block.label} {lines}")
    assert ", ".join(found) == expected


def test_code_behind_an_inner_part_belongs_to_the_outer_one_and_the_rest_to_none():
    text = "class A {\n  def f() {\n    1\n  }\n  x = 1\n  y = 2\n}\n\nz = 3\n"
    spans = [(span.first, span.last, span.ends) for span in find_named_spans(text)]
    assert spans == [(0, 1, 0), (1, 2, 0), (2, 4, 0), (4, 7, 2), (7, 10, 1)]


@pytest.mark.processor_s(20)
@pytest.mark.parametrize("line", ["def f(", "a " * 150 + "(", "# x", "  class A", "x" * 2_000])
def test_repeated_lines_take_little_time(line):
    find_named_spans(f"{line}\n" * 4_000)
