"""What C and C++ know of themselves: standard containers, smart pointers, functions that call what they are given."""

from __future__ import annotations

from smp.languages.base import Tables, Transfer

_SEQUENCES = (
    "std::vector", "std::list", "std::deque", "std::set", "std::unordered_set", "std::multiset", "std::forward_list",
    "std::array", "std::span", "std::stack", "std::queue", "std::priority_queue", "std::initializer_list",
)  # fmt: skip
_MAPS = ("std::map", "std::unordered_map", "std::multimap", "std::unordered_multimap")
_POINTERS = ("std::unique_ptr", "std::shared_ptr", "std::weak_ptr", "std::optional", "std::reference_wrapper")

_PRIMITIVES = ("bool", "char", "short", "int", "long", "float", "double", "void", "wchar_t")

_ELEMENT = Transfer(result="receiver_element")
_ITEM = Transfer(result="receiver_item")
_FIRST = Transfer(result="arg:0")
_TRANSFERS: dict[str, Transfer] = {
    **{f"{kind}.{name}": _ELEMENT for kind in _SEQUENCES for name in ("begin", "end", "cbegin", "rbegin", "front", "back", "top", "find", "data")},
    **{f"{kind}.{name}": _ITEM for kind in (*_SEQUENCES, *_MAPS) for name in ("at", "operator[]")},
    **{f"{kind}.{name}": _ELEMENT for kind in _POINTERS for name in ("get", "lock", "value", "value_or", "release", "operator*")},
    **dict.fromkeys(("std::move", "std::forward", "std::ref", "std::cref", "std::addressof", "std::as_const", "std::exchange"), _FIRST),
    "std::bind": Transfer(result="partial"),
    "qsort": Transfer(calls=3),
    "bsearch": Transfer(calls=4),
    "std::sort": Transfer(calls=2),
    "std::stable_sort": Transfer(calls=2),
    "std::for_each": Transfer(calls=2),
    "std::find_if": Transfer(calls=2),
    "std::any_of": Transfer(calls=2),
    "std::all_of": Transfer(calls=2),
    "std::none_of": Transfer(calls=2),
    "std::count_if": Transfer(calls=2),
    "std::remove_if": Transfer(calls=2),
    "std::transform": Transfer(calls=3),
    "std::call_once": Transfer(calls=1),
    "std::invoke": Transfer(calls=0),
    "std::visit": Transfer(calls=0),
}  # fmt: skip

TABLES = Tables(
    constructors=("%constructor",),
    call_method="operator()",
    transfers=_TRANSFERS,
    element_first=frozenset(_SEQUENCES),
    element_last=frozenset({*_MAPS, *_POINTERS}),
    pair_types=frozenset(_MAPS),
    awaitables=frozenset(_POINTERS),
    tuple_type="std::pair",
    sequence_type="array",
    mapping_type="map",
    generator_type="std::generator",
    members={"std::pair": frozenset({"swap"})},
    closed_types=frozenset({"std::pair"}),
    callback_edges=True,
    test_hooks=("SetUp", "TearDown", "SetUpTestSuite", "TearDownTestSuite"),
    overloads=True,
    builtins={name: name for name in (*_PRIMITIVES, *(f"{name}*" for name in _PRIMITIVES))},
    widenings=("char", "short", "int", "long", "float", "double"),
    plain_types=frozenset({*_PRIMITIVES, *(f"{name}*" for name in _PRIMITIVES)}),
    implicit_receiver=True,
    pointers=True,
)
