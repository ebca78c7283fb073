"""What is known of the built-in objects of the language: what their methods give, take and call.

Dotted names are as code writes them (`Promise.all`, `Array.push` for the method of every array); a package's are its
specifier and the name (`react.memo`).
"""

# ruff: noqa: SIM905 -- one word a name keeps the lists readable

from __future__ import annotations

from smp.languages.base import Tables, Transfer
from smp.languages.ecmascript.builtins import GLOBAL_TYPES, GLOBALS
from smp.languages.ecmascript.type_expressions import CALL_MEMBER, ITEM_MEMBER, MEMBER, NEW_MEMBER, SAME

_PSEUDO = ("this", "typeof", "Tuple", SAME, MEMBER)
"""What the walk writes for the types `this`, `typeof x`, `[A, B]`, for computed types and for members of types."""
_PLAIN = (
    "String Number Boolean BigInt Symbol RegExp Date Math JSON Object Array Map Set WeakMap WeakSet Promise Error Function "
    "Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array ArrayBuffer DataView Buffer "
    "Tuple URL URLSearchParams Headers FormData Response Request TextEncoder TextDecoder AbortController Intl Reflect"
)
_COMPONENTS = ("Component", "PureComponent")
_ARRAYS = ("Array", "ReadonlyArray", "Tuple")
_SETS = ("Set", "ReadonlySet", "WeakSet")
_MAPS = ("Map", "ReadonlyMap", "WeakMap")
_TEXTS = (
    "toString toUpperCase toLowerCase trim trimStart trimEnd slice substring substr replace replaceAll padStart padEnd "
    "repeat concat charAt at normalize toLocaleUpperCase toLocaleLowerCase"
)

_TEXT_MEMBERS = (
    " anchor big blink bold charCodeAt codePointAt endsWith fixed fontcolor fontsize includes indexOf isWellFormed italics "
    "lastIndexOf length link localeCompare match matchAll search small split startsWith strike sub sup toWellFormed "
    "trimLeft trimRight"
)
_PATTERN_MEMBERS = (
    "compile dotAll exec flags global hasIndices ignoreCase lastIndex multiline source sticky test unicode unicodeSets"
)


def _instance(name: str) -> Transfer:
    return Transfer(result=f"instance:{name}")


def _calls(result: str = "", elements: int = -2, hands_at: int = 0) -> Transfer:
    return Transfer(result=result, calls=0, with_elements=elements, hands_at=hands_at)


def _arrays() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {
        "Array.from": Transfer(result="mapped_from", calls=1),
        "Array.of": Transfer(result="container"),
        "Array.isArray": _instance("Boolean"),
        "Object.values": Transfer(result="values:Array"),
        "Object.entries": Transfer(result="entries:Array"),
        "Object.fromEntries": Transfer(result="from_pairs:Object"),
        "Object.create": Transfer(result="arg:0"),
        "Object.setPrototypeOf": Transfer(result="arg:0"),
        "Object.getPrototypeOf": Transfer(result="arg:0"),
        "Object.defineProperty": Transfer(result="arg:0"),
        "Object.defineProperties": Transfer(result="arg:0"),
        "Object.assign": Transfer(result="arg:0"),
        "Object.freeze": Transfer(result="arg:0"),
        "Proxy": Transfer(result="arg:0"),
        "Object.seal": Transfer(result="arg:0"),
        "Object.keys": Transfer(result="list_of:String"),
        "structuredClone": Transfer(result="arg:0"),
    }
    for kind in _ARRAYS:
        table[f"{kind}.push"] = table[f"{kind}.unshift"] = Transfer(stores=(0, 1, 2, 3))
        table[f"{kind}.splice"] = Transfer(result="receiver", stores=(2, 3))
        table[f"{kind}.fill"] = Transfer(result="receiver", stores=(0,))
        table[f"{kind}.concat"] = Transfer(result="receiver", spreads=(0, 1))
        for name in ("pop", "shift", "at"):
            table[f"{kind}.{name}"] = Transfer(result="receiver_element")
        for name in ("find", "findLast"):
            table[f"{kind}.{name}"] = _calls("kept_element")
        table[f"{kind}.filter"] = _calls("kept")
        for name in ("sort", "toSorted"):
            table[f"{kind}.{name}"] = Transfer(result="receiver", calls=0, hands=("0", "0"))
        for name in ("slice", "reverse", "toReversed", "values", "toSpliced", "with", "copyWithin"):
            table[f"{kind}.{name}"] = Transfer(result="receiver")
        table[f"{kind}.flat"] = Transfer(result="flat")
        table[f"{kind}.entries"] = Transfer(result="receiver_items")
        table[f"{kind}.map"] = _calls("mapped")
        table[f"{kind}.flatMap"] = Transfer(result="flattened:Array", calls=0, hands=("0",))
        for name in ("forEach", "some", "every", "findIndex", "findLastIndex"):
            table[f"{kind}.{name}"] = _calls()
        for name in ("reduce", "reduceRight"):
            table[f"{kind}.{name}"] = _calls("folded")
        table[f"{kind}.join"] = _instance("String")
    return table


def _collections() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {}
    for kind in _SETS:
        table[f"{kind}.add"] = Transfer(result="receiver", stores=(0,))
        table[f"{kind}.forEach"] = _calls()
        table[f"{kind}.values"] = table[f"{kind}.keys"] = Transfer(result="receiver")
    for kind in _MAPS:
        table[f"{kind}.get"] = Transfer(result="receiver_item")
        table[f"{kind}.set"] = Transfer(result="receiver", stores=(1,))
        table[f"{kind}.values"] = Transfer(result="receiver_container")
        table[f"{kind}.entries"] = Transfer(result="receiver_items")
        table[f"{kind}.forEach"] = _calls()
    for kind in ("Map", "WeakMap"):
        table[kind] = Transfer(result=f"from_pairs:{kind}")
    for kind in (
        "Generator",
        "Iterator",
        "IterableIterator",
        "AsyncGenerator",
        "AsyncIterator",
        "AsyncIterableIterator",
    ):
        table[f"{kind}.next"] = Transfer(result="step:Object")
    table["Set"] = table["WeakSet"] = Transfer(result="container:0")
    table["Array"] = Transfer(result="container:0")
    return table


def _promises() -> dict[str, Transfer]:
    return {
        "Promise.all": Transfer(result="awaited_list:0"),
        "Promise.allSettled": Transfer(),
        "Promise.resolve": Transfer(result="arg:0"),
        "Promise.race": Transfer(result="element:0"),
        "Promise.any": Transfer(result="element:0"),
        "Promise.then": _calls("call"),
        "Promise.catch": _calls("receiver", elements=-1),
        "Promise.finally": _calls("receiver", elements=-1),
    }


def _functions() -> dict[str, Transfer]:
    return {
        "Function.call": Transfer(result="receiver_call"),
        "Function.apply": Transfer(result="receiver_apply"),
        "Function.bind": Transfer(result="receiver_partial"),
        "process.nextTick": Transfer(passes=1),
        "setImmediate": Transfer(passes=1),
        "setTimeout": Transfer(passes=2),
        "setInterval": Transfer(passes=2),
        "util.promisify": Transfer(result="arg:0"),
        "node:util.promisify": Transfer(result="arg:0"),
    }


def _packages() -> dict[str, Transfer]:
    """Packages whose functions give back (an equal of) the function they are given."""
    table: dict[str, Transfer] = {}
    for name in ("memo", "forwardRef", "useCallback", "lazy"):
        table[f"react.{name}"] = Transfer(result="arg:0")
    table["react.useMemo"] = Transfer(result="call", calls=0)
    table["react.useState"] = Transfer(result="state")
    table["react.useReducer"] = Transfer(result="state")
    table["react.useRef"] = table["react.createRef"] = Transfer(result="record:current")
    table["react.createContext"] = Transfer(result="record:(context)")
    table["react.useContext"] = table["react.use"] = Transfer(result="attribute:(context)")
    table["react.forwardRef"] = Transfer(result="arg:0", calls=0, hands=("1",))
    table["mobx-react-lite.observer"] = table["mobx-react.observer"] = Transfer(result="arg:0")
    return table


def _texts() -> dict[str, Transfer]:
    table = {f"String.{name}": _instance("String") for name in _TEXTS.split()}
    table["String.split"] = Transfer(result="list_of:String")
    table["String"] = _instance("String")
    table["Number"] = _instance("Number")
    table["Boolean"] = _instance("Boolean")
    return table


_OBJECT_MEMBERS = frozenset("hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf".split())
_EMITTER = frozenset(
    "addListener emit eventNames getMaxListeners listenerCount listeners off on once prependListener prependOnceListener "
    "rawListeners removeAllListeners removeListener setMaxListeners".split()
)
_ERRORS = "Error TypeError RangeError SyntaxError ReferenceError EvalError URIError AggregateError".split()


def _members() -> dict[str, frozenset[str]]:
    """Names that built-in classes have, so that a look-up may step over them for any other name."""
    found = {name: frozenset("name message stack cause".split()) | _OBJECT_MEMBERS for name in _ERRORS}
    found["Object"] = _OBJECT_MEMBERS
    for module in ("events", "node:events"):
        found[f"{module}.EventEmitter"] = found[module] = _EMITTER | _OBJECT_MEMBERS
    found["Map"] = frozenset("clear delete entries forEach get has keys set size values".split()) | _OBJECT_MEMBERS
    found["Set"] = frozenset("add clear delete entries forEach has keys size values".split()) | _OBJECT_MEMBERS
    found["Promise"] = frozenset("then catch finally".split()) | _OBJECT_MEMBERS
    found["EventTarget"] = frozenset("addEventListener removeEventListener dispatchEvent".split()) | _OBJECT_MEMBERS
    found["Number"] = frozenset("toExponential toFixed toPrecision".split()) | _OBJECT_MEMBERS
    found["Boolean"] = _OBJECT_MEMBERS
    found["RegExp"] = frozenset(_PATTERN_MEMBERS.split()) | _OBJECT_MEMBERS
    found["String"] = frozenset((_TEXTS + _TEXT_MEMBERS).split()) | _OBJECT_MEMBERS
    component = frozenset("setState forceUpdate props state context refs".split()) | _OBJECT_MEMBERS
    for name in _COMPONENTS:
        found[f"react.{name}"] = component
    return found


TABLES = Tables(
    modules_by_path=True,
    constructors=("constructor",),
    builtins={name: name for name in sorted({*GLOBALS, *GLOBAL_TYPES, *_PSEUDO})},
    transfers={**_arrays(), **_collections(), **_promises(), **_functions(), **_packages(), **_texts()},
    transparent=frozenset({"react.memo", "react.forwardRef", "react.useCallback"}),
    element_first=frozenset(
        "Array ReadonlyArray Set ReadonlySet Iterable Iterator IterableIterator Generator AsyncGenerator AsyncIterable "
        "AsyncIterableIterator AsyncIterator ArrayLike".split()
    ),
    element_last=frozenset("Map ReadonlyMap WeakMap Record".split()),
    awaitables=frozenset({"Promise", "PromiseLike", "Awaited"}),
    class_types=frozenset({"typeof"}),
    self_types=frozenset({"this"}),
    ignored_bases=frozenset({"Object"}),
    members=_members(),
    plain_types=frozenset(_PLAIN.split()),
    sequence_type="Array",
    tuple_type="Tuple",
    mapping_type="Map",
    generator_type="Generator",
    record_types=frozenset({"Object", "Record"}),
    container_types=frozenset({*_ARRAYS, *_SETS, *_MAPS}),
    pair_types=frozenset(_MAPS),
    function_methods={name: f"Function.{name}" for name in ("call", "apply", "bind")},
    awaited_methods={name: f"Promise.{name}" for name in ("then", "catch", "finally")},
    callback_edges=True,
    hands_to_many=True,
    loose_receivers=True,
    tests_apart=True,
    call_member=CALL_MEMBER,
    closed_types=frozenset({"Number", "Boolean", "String", "RegExp"}),
    module_names=frozenset({"default", "export="}),
    call_method=CALL_MEMBER,
    iterator_methods=("[Symbol.iterator]", "[Symbol.asyncIterator]"),
    step_method="next",
    type_functions={
        SAME: "same",
        MEMBER: "member",
        "ReturnType": "returned",
        "Parameters": "parameters",
        "Awaited": "awaited",
        "InstanceType": "made",
    },
    infers=True,
    optional=frozenset(f"react.{name}" for name in ("PropsWithChildren", "PropsWithRef", "PropsWithoutRef")),
    properties={f"react.{name}.current": "0" for name in ("RefObject", "MutableRefObject")},
    prototype_member="prototype",
    class_member="constructor",
    construct_member=NEW_MEMBER,
    item_member=ITEM_MEMBER,
    base_members={f"react.{kind}.{name}": at for kind in _COMPONENTS for at, name in enumerate(("props", "state"))},
    function_types={f"react.{name}": ("0",) for name in ("FC", "FunctionComponent", "VFC", "ComponentType")},
)
