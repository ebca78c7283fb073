"""What is known of Rust's std: types that hold others, and what their methods give, take and call."""

# ruff: noqa: SIM905 -- one word a name keeps the lists readable

from __future__ import annotations

from smp.languages.base import Tables, Transfer
from smp.languages.rust.types import CALL_MEMBER, LIST, TUPLE

COMMON = "(any)"
"""What every value has: methods of blanket implementations, and those of the pointer or option that it may be held in."""
_POINTERS = frozenset(
    {"Box", "Rc", "Arc", "Pin", "Cow", "Ref", "RefMut", "MutexGuard", "RwLockReadGuard", "RwLockWriteGuard"}
)
_CELLS = ("Mutex", "RwLock", "RefCell", "Cell", "OnceCell", "OnceLock", "Weak", "LazyLock")
_LISTS = (
    LIST,
    "VecDeque",
    "HashSet",
    "BTreeSet",
    "BinaryHeap",
    "Option",
    "Result",
    "Iterator",
    "IntoIterator",
    "LinkedList",
    "Peekable",
)
_MAPS = ("HashMap", "BTreeMap", "IndexMap")
_HOLDERS = (*_LISTS, *_MAPS, *_CELLS, *sorted(_POINTERS))
_SAME = (
    "iter iter_mut into_iter drain take skip rev chain peekable cloned copied by_ref as_ref as_mut as_deref as_deref_mut filter "
    "skip_while take_while inspect step_by cycle fuse collect to_vec clone to_owned into_boxed_slice as_slice as_mut_slice ok "
    "or or_else map_err context with_context ok_or ok_or_else chunks windows retain entry sorted or_insert_entry as_mut_ptr "
    "flatten split_off union intersection difference rsplit split into"
)
_ELEMENT = (
    "next unwrap expect unwrap_or unwrap_or_else unwrap_or_default get get_mut first last first_mut last_mut pop pop_front "
    "pop_back front back nth peek max min max_by min_by max_by_key min_by_key find remove swap_remove lock borrow borrow_mut "
    "read write get_or_insert_with or_insert or_insert_with or_default into_inner upgrade unwrap_unchecked try_lock take_mut "
    "insert_mut reduce find_map and_then map_or map_or_else get_or_init force load next_back choose"
)
_CALLING = (
    "map filter for_each filter_map flat_map and_then any all find position take_while skip_while inspect map_err "
    "unwrap_or_else or_else or_insert_with max_by_key min_by_key sort_by_key sort_by partition find_map retain scan "
    "ok_or_else with_context get_or_insert_with is_some_and is_ok_and map_while then for_each_mut get_or_init"
)
_MAPPED = frozenset({"map", "filter_map", "flat_map", "map_while", "scan"})
_TYPES = (
    "String str Vec VecDeque HashMap HashSet BTreeMap BTreeSet BinaryHeap LinkedList Option Result Box Rc Arc Weak Cell RefCell Mutex "
    "RwLock OnceCell OnceLock Cow Pin Iterator IntoIterator Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard LazyLock Peekable"
)
_TRAITS = (
    "Clone Copy Debug Display Default PartialEq Eq PartialOrd Ord Hash Drop Deref DerefMut From Into TryFrom TryInto AsRef AsMut "
    "Fn FnMut FnOnce Send Sync Sized Unpin ToString ToOwned Extend DoubleEndedIterator ExactSizeIterator Some None Ok Err drop "
    "Error Read Write BufRead Seek FromStr Add Sub Mul Div Index IndexMut Neg Not Future Any Borrow FromIterator"
)
_PRIMITIVES = "bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64"
_MEMBERS = {
    "Clone": "clone clone_from", "Debug": "fmt", "Display": "fmt to_string", "Default": "default", "PartialEq": "eq ne", "Eq": "",
    "PartialOrd": "partial_cmp lt le gt ge", "Ord": "cmp max min clamp", "Hash": "hash", "Copy": "", "Drop": "drop", "Send": "",
    "Sync": "", "Sized": "", "Unpin": "", "From": "from", "Into": "into", "TryFrom": "try_from", "TryInto": "try_into",
    "AsRef": "as_ref", "AsMut": "as_mut", "FromStr": "from_str", "Index": "index", "IndexMut": "index_mut", "Add": "add", "Sub": "sub",
    "Mul": "mul", "Div": "div", "Neg": "neg", "Not": "not", "ToString": "to_string", "ToOwned": "to_owned", "Any": "type_id",
    "Deref": "deref", "DerefMut": "deref_mut", "Error": "source description cause", "Extend": "extend", "FromIterator": "from_iter",
    "Borrow": "borrow", "Future": "poll", "Fn": "call", "FnMut": "call_mut", "FnOnce": "call_once",
}  # fmt: skip


def _transfers() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {}
    for holder in (*_HOLDERS, COMMON):
        for name in _SAME.split():
            table[f"{holder}.{name}"] = Transfer(result="receiver")
        for name in _ELEMENT.split():
            table[f"{holder}.{name}"] = Transfer(result="receiver" if holder == COMMON else "receiver_element")
        for name in _CALLING.split():
            before = table.get(f"{holder}.{name}", Transfer())
            result = (
                "mapped" if name in _MAPPED else "call" if name in ("and_then", "find_map", "then") else before.result
            )
            table[f"{holder}.{name}"] = Transfer(result=result, calls=0, with_elements=-2)
        table[f"{holder}.fold"] = Transfer(result="arg:0", calls=1, with_elements=-2, hands_at=1)
        table[f"{holder}.enumerate"] = Transfer(result="receiver_items")
        table[f"{holder}.values"] = table[f"{holder}.values_mut"] = Transfer(result="receiver_container")
        table[f"{holder}.into_values"] = Transfer(result="receiver_container")
        table[f"{holder}.push"] = table[f"{holder}.push_back"] = table[f"{holder}.push_front"] = Transfer(stores=(0,))
        table[f"{holder}.insert"] = Transfer(stores=(1,) if holder in _MAPS else (0, 1))
        table[f"{holder}.extend"] = table[f"{holder}.append"] = Transfer(spreads=(0,))
    for pointer in ("Arc", "Rc", "Box", "Cow"):
        table[f"{pointer}.clone"] = table[f"{pointer}.as_ref"] = Transfer(result="arg:0")
    table["Clone.clone"] = Transfer(result="receiver")
    for dotted in ("std.mem.take", "std.mem.replace", "std.convert.identity"):
        table[dotted] = Transfer(result="arg:0")
    table["std.thread.spawn"] = table["tokio.spawn"] = Transfer(calls=0)
    return table


_BUILTINS = {name: name for name in f"{_TYPES} {_TRAITS} {_PRIMITIVES}".split()}
_METHODS = frozenset(f"{_SAME} {_ELEMENT} {_CALLING} fold enumerate".split())

TABLES = Tables(
    call_method=CALL_MEMBER,
    call_member=CALL_MEMBER,
    builtins={**_BUILTINS, TUPLE: TUPLE, "Self": "Self", "std": "std", "core": "core", "alloc": "alloc"},
    transfers=_transfers(),
    element_first=frozenset({*_LISTS, *_CELLS, *_POINTERS}),
    element_last=frozenset(_MAPS),
    pair_types=frozenset(_MAPS),
    self_types=frozenset({"Self"}),
    members={
        **{name: frozenset(known.split()) for name, known in _MEMBERS.items()},
        TUPLE: frozenset(),
        COMMON: _METHODS | frozenset("try_into to_string type_id borrow borrow_mut".split()),
        "Arc": frozenset({"clone", "downgrade"}),
        "Rc": frozenset({"clone", "downgrade"}),
    },
    closed_types=frozenset({TUPLE}),
    plain_types=frozenset([*_PRIMITIVES.split(), "String", "str"]),
    sequence_type=LIST,
    tuple_type=TUPLE,
    mapping_type="HashMap",
    callback_edges=True,
    embedding=True,
    plain_construction=True,
    rivals=True,
    lenders=_POINTERS,
    common_members=COMMON,
    opens_itself=True,
)
