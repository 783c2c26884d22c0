import pytest

from kebab.core.documents import BlockKind
from kebab.core.media import detect_media_type, get_media_type
from kebab.parse.code.languages import SYNTAXES
from kebab.parse.code.source import CodeParser
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats" / "code"
SYMBOLS = {
    "Account.java": "Account 7-10, .Account 13, .balance 17-19, .Kind 23, ..isDebit 26, .Entry 31",
    "Badge.tsx": "BadgeProps 3, Badge 10-11, Store 15, .write 18-19, Colours 24, .parse 25",
    "Clock.cs": "Time.Keeping 5-6, .Clock 7-10, ..Hour 13, ..Clock 18-19, ..Tick 23, .Zone 26-27",
    "Recipe.kt": "Recipe 6-7, .scale 10, .empty 15, largest 21",
    "cart.js": "Cart 6-7, .add 10-11, .clear 16, .empty 20, total 23, exports.restore 27, watch 33",
    "deploy.sh": "copy_site 7-8, check 12",
    "garden.rb": "Garden 3-4, .Bed 5, ..plant 8-9, ..empty 13, ..water 17, harvest 24",
    "matrix.hpp": "linear 4, .Matrix 6-8, ..Matrix 9-10, ..operator+= 12-13, .trace 22-23",
    "queue.go": "Queue 12-13, Queue.Push 18-19, Worker 26-28, New 33",
    "retry.py": "STATUS 9, Refused 16, Backoff 20-21, .pause 27-28, .gentle 33-34, call 40",
    "ring.c": "RING_NEXT 6, ring 11, ring_new 19-22, ring_reset 27, ring_status 30",
    "shape.rs": "Circle 6-8, Circle 12, .fmt 13-14, Area 19, .twice 22, tests 27,"
    " .the_area_of_nothing_is_nothing 28-29, square 34",
    "shop.sql": "shop.customer 3-4, best_customers 9, greet 16",
    "Cache.hs": "Cache 9, MonadCache 19, .lookupCache 20, .storeCache 21, MonadCache 23,"
    " .lookupCache 24, .storeCache 26, empty 28-29, insert 32-33",
    "Cache.scala": "Cache 6-7, .put 9, Cache 14, .apply 17, .ordering 20, Impl 28, .get 29,"
    " Color 34, .f 36, foo 38, .compare 39, shout 43",
    "ImageCache.swift": "ImageCache 4-5, .init 8-9, .deinit 13, .image 15-16, .subscript 20,"
    " .count 25, ImageCache 31, .makeIterator 32, Loader 37, Result 42, .get 45, Point 50,"
    " Bank 52, .deposit 53, topLevel 60",
    "UserController.php": "UserController 8-13, .__construct 18-20, .show 24-25, Shape 30,"
    " Loggable 32, .log 33, Suit 38, .label 40, helper 45, $closure 48",
    "cache.ex": "MyApp.Cache 1, .start_link 8-10, .get 14, .load 16, .cached 20, .Entry 26,"
    " ..new 29, Size 33, .size 34-35, Size 38, .size 39, MyTest 44, .get 46, ..returns nil 47",
    "cache.jl": "Cache 1, .get 6-11, .area 15, .Point 17, .M 22, .Abs 28, .sayhello 30,"
    " .Base.show 34, .TABLE 38",
    "list.zig": "ArrayList 4-5, .init 10, Point 16, .add 20-21, Color 26, add works 28,"
    " Error 32, main 38",
    "main.tf": "aws_instance.web 1-2, variable.region 11, module.vpc 16, locals 20,"
    " terraform 25, output.ip 29",
    "parse.lua": "M.parse 4-6, M:method 10, helper 14, M.format 18, Other 22, .run 23, .stop 26",
    "widget.dart": "MyWidget 5-7, .MyWidget 12, .MyWidget 16, .build 20-22, .size 26, .load 28,"
    " Foo 33, .foo 34, StringX 39, .shout 40, Color 43, main 47, Repo 51",
}
"""By sample, its symbols, one dot for each level, and the lines to the end of the signature."""


def find_language(name):
    return get_media_type(detect_media_type(name) or "").language


def parse_code(text, language, path="a"):
    return CodeParser(language).parse(text.encode(), path)


def list_headings(document):
    found = []
    for block in document.blocks:
        if block.kind is BlockKind.HEADING:
            first = document.text.count("\n", 0, block.start) + 1
            last = document.text.count("\n", 0, block.end) + 1
            lines = f"{first}" if first == last else f"{first}-{last}"
            found.append(f"{'.' * (block.level - 1)}{block.label} {lines}")
    return found


@pytest.mark.parametrize("name", SYMBOLS)
def test_symbols_of_real_code_are_headings_with_their_exact_lines(name):
    document = CodeParser(find_language(name)).parse((SAMPLES / name).read_bytes(), name)
    assert list_headings(document) == SYMBOLS[name].replace(", ", ",").split(",")


def test_every_language_has_a_sample():
    sampled = {find_language(name) for name in SYMBOLS}
    assert sampled == set(SYNTAXES) - {"tsx"}
    assert {path.name for path in SAMPLES.iterdir()} == set(SYMBOLS)


def test_a_pattern_is_no_name():
    document = parse_code("const {\n a,\n b,\n} = f(\n);\n", "javascript")
    assert list_headings(document) == []


def test_two_symbols_on_one_line_share_the_first():
    assert list_headings(parse_code("int f(void) {} int g(void) {}\n", "c")) == ["f 1"]
