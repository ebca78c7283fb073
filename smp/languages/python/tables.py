"""What is known of Python's built-ins and standard library: results, elements, decorators, names."""

from __future__ import annotations

import builtins

from smp.languages.base import Tables, Transfer
from smp.languages.python.supertypes import supertypes


def _names() -> dict[str, str]:
    names = {name: f"builtins.{name}" for name in dir(builtins) if not name.startswith("_")}
    for name in (
        "__name__",
        "__file__",
        "__doc__",
        "__import__",
        "__build_class__",
        "__debug__",
        "__spec__",
        "__path__",
    ):
        names[name] = f"builtins.{name}"
    # Names that other versions of Python define, and what site and gettext add.
    for name in (
        "unicode",
        "basestring",
        "xrange",
        "long",
        "raw_input",
        "unichr",
        "reload",
        "WindowsError",
        "exit",
        "quit",
    ):
        names.setdefault(name, f"builtins.{name}")
    return names


def _instance(name: str) -> Transfer:
    return Transfer(result=f"instance:builtins.{name}")


_LIST = "builtins.list"
_DICT = "builtins.dict"
_SET = "builtins.set"
_CONTAINERS = (_LIST, "builtins.tuple", _SET, "builtins.frozenset", "collections.deque", "builtins.generator")
_MAPPINGS = (_DICT, "collections.OrderedDict", "collections.defaultdict", "collections.ChainMap")


def _transfers() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {
        "builtins.list": Transfer(result="container:0", protocol=("__iter__",)),
        "builtins.tuple": Transfer(result="container:0", protocol=("__iter__",)),
        "builtins.set": Transfer(result="container:0", protocol=("__iter__",)),
        "builtins.frozenset": Transfer(result="container:0", protocol=("__iter__",)),
        "builtins.sorted": Transfer(result="container:0", protocol=("__iter__",), calls_keyword="key", with_elements=0),
        "builtins.reversed": Transfer(result="container:0", protocol=("__reversed__",)),
        "builtins.iter": Transfer(result="arg:0", protocol=("__iter__",)),
        "builtins.next": Transfer(result="element:0", protocol=("__next__",)),
        "builtins.enumerate": Transfer(result="pairs:0", protocol=("__iter__",)),
        "builtins.zip": Transfer(result="zip"),
        "builtins.map": Transfer(result="mapped", calls=0, with_elements=1),
        "builtins.filter": Transfer(result="container:1", calls=0, with_elements=1),
        "builtins.max": Transfer(result="element:0", calls_keyword="key", with_elements=0),
        "builtins.min": Transfer(result="element:0", calls_keyword="key", with_elements=0),
        "builtins.getattr": Transfer(result="computed"),
        "builtins.object.__getattribute__": Transfer(result="computed"),
        "builtins.property": Transfer(result="property"),
        "builtins.type": Transfer(result="class_of"),
        "builtins.dict": Transfer(result="dict"),
        "collections.OrderedDict": Transfer(result="dict"),
        "collections.defaultdict": Transfer(result="defaulting"),
        "collections.deque": Transfer(result="container:0", protocol=("__iter__",)),
        "builtins.len": Transfer(result="instance:builtins.int", protocol=("__len__",)),
        "builtins.str": Transfer(result="instance:builtins.str", protocol=("__str__",)),
        "builtins.repr": Transfer(result="instance:builtins.str", protocol=("__repr__",)),
        "builtins.bool": Transfer(result="instance:builtins.bool", protocol=("__bool__",)),
        "builtins.int": Transfer(result="instance:builtins.int", protocol=("__int__",)),
        "builtins.float": Transfer(result="instance:builtins.float", protocol=("__float__",)),
        "builtins.hash": Transfer(result="instance:builtins.int", protocol=("__hash__",)),
        "builtins.bytes": Transfer(result="instance:builtins.bytes", protocol=("__bytes__",)),
        "builtins.abs": Transfer(protocol=("__abs__",)),
        "builtins.round": Transfer(protocol=("__round__",)),
        "builtins.format": Transfer(result="instance:builtins.str", protocol=("__format__",)),
        "builtins.isinstance": _instance("bool"),
        "builtins.print": Transfer(protocol=("__str__",)),
        "builtins.open": Transfer(result="instance:io.TextIOWrapper"),
        "functools.partial": Transfer(result="partial"),
        "functools.partialmethod": Transfer(result="partial"),
        "functools.reduce": Transfer(result="call", calls=0, with_elements=1),
        "functools.wraps": Transfer(result="identity"),
        "builtins.identity": Transfer(result="arg:0"),
        "functools.update_wrapper": Transfer(result="arg:0"),
        "functools.lru_cache": Transfer(result="arg:0"),
        "functools.cache": Transfer(result="arg:0"),
        "functools.singledispatch": Transfer(result="arg:0"),
        "functools.total_ordering": Transfer(result="arg:0"),
        "contextlib.contextmanager": Transfer(result="arg:0"),
        "contextlib.asynccontextmanager": Transfer(result="arg:0"),
        "contextlib.closing": Transfer(result="arg:0"),
        "contextlib.nullcontext": Transfer(result="arg:0"),
        "dataclasses.dataclass": Transfer(result="arg:0"),
        "dataclasses.replace": Transfer(result="arg:0"),
        "copy.copy": Transfer(result="arg:0"),
        "copy.deepcopy": Transfer(result="arg:0"),
        "itertools.chain": Transfer(result="chain"),
        "itertools.starmap": Transfer(calls=0),
        "itertools.islice": Transfer(result="container:0"),
        "itertools.cycle": Transfer(result="container:0"),
        "itertools.takewhile": Transfer(result="container:1", calls=0, with_elements=1),
        "itertools.dropwhile": Transfer(result="container:1", calls=0, with_elements=1),
        "asyncio.gather": Transfer(result="awaited_all"),
        "asyncio.create_task": Transfer(result="arg:0"),
        "asyncio.ensure_future": Transfer(result="arg:0"),
        "asyncio.wait_for": Transfer(result="arg:0"),
        "asyncio.shield": Transfer(result="arg:0"),
        "asyncio.run": Transfer(result="awaited:0"),
        "typing.cast": Transfer(),
        "weakref.proxy": Transfer(result="arg:0"),
        "operator.methodcaller": Transfer(),
        "types.MethodType": Transfer(result="arg:0"),
        "abc.abstractmethod": Transfer(result="arg:0"),
        "typing.final": Transfer(result="arg:0"),
        "typing.runtime_checkable": Transfer(result="arg:0"),
        "enum.unique": Transfer(result="arg:0"),
        "atexit.register": Transfer(result="arg:0"),
        "unittest.mock.patch": Transfer(),
    }
    for kind in _CONTAINERS:
        table[f"{kind}.append"] = table[f"{kind}.appendleft"] = table[f"{kind}.add"] = Transfer(stores=(0,))
        table[f"{kind}.insert"] = Transfer(stores=(1,))
        table[f"{kind}.extend"] = table[f"{kind}.update"] = Transfer(spreads=(0,))
        table[f"{kind}.pop"] = table[f"{kind}.popleft"] = Transfer(result="receiver_element")
        table[f"{kind}.copy"] = table[f"{kind}.union"] = Transfer(result="receiver")
        table[f"{kind}.send"] = Transfer(result="receiver_element")
        table[f"{kind}.index"] = table[f"{kind}.count"] = _instance("int")
        table[f"{kind}.sort"] = Transfer(calls_keyword="key", with_elements=-2)
    for kind in _MAPPINGS:
        table[f"{kind}.get"] = table[f"{kind}.pop"] = Transfer(result="receiver_item")
        table[f"{kind}.setdefault"] = Transfer(result="receiver_item", stores=(1,))
        table[f"{kind}.values"] = Transfer(result="receiver_container")
        table[f"{kind}.items"] = Transfer(result="receiver_items")
        table[f"{kind}.keys"] = Transfer(result="")
        table[f"{kind}.update"] = Transfer(result="merged")
        table[f"{kind}.copy"] = Transfer(result="receiver")
        table[f"{kind}.popitem"] = Transfer(result="receiver_pair")
    texts = (
        "upper",
        "lower",
        "strip",
        "lstrip",
        "rstrip",
        "format",
        "join",
        "replace",
        "title",
        "capitalize",
        "removeprefix",
    )
    for name in (*texts, "removesuffix", "zfill", "ljust", "rjust", "center", "translate", "casefold", "format_map"):
        table[f"builtins.str.{name}"] = _instance("str")
    for name in ("split", "rsplit", "splitlines", "partition", "rpartition"):
        table[f"builtins.str.{name}"] = Transfer(result="list_of:builtins.str")
    table["builtins.str.encode"] = _instance("bytes")
    table["builtins.bytes.decode"] = _instance("str")
    return table


_OBJECT_METHODS = frozenset(
    [
        "__init__",
        "__new__",
        "__repr__",
        "__str__",
        "__eq__",
        "__ne__",
        "__hash__",
        "__getattribute__",
        "__setattr__",
        "__delattr__",
        "__class__",
        "__doc__",
        "__dict__",
        "__module__",
        "__format__",
        "__reduce__",
        "__reduce_ex__",
        "__sizeof__",
        "__dir__",
        "__init_subclass__",
        "__subclasshook__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
    ]
)


def _members() -> dict[str, frozenset[str]]:
    """Attribute names of built-in classes, so that a look-up may step over them for any other name."""
    found = {}
    for name in dir(builtins):
        value = getattr(builtins, name)
        if isinstance(value, type):
            found[f"builtins.{name}"] = frozenset(dir(value)) - _OBJECT_METHODS
    found["threading.Thread"] = frozenset(
        ["start", "run", "join", "name", "ident", "is_alive", "daemon", "isDaemon", "setDaemon", "getName"]
    )
    found["enum.Enum"] = found["enum.IntEnum"] = found["enum.StrEnum"] = frozenset({"name", "value"})
    found["enum.Flag"] = found["enum.IntFlag"] = frozenset({"name", "value"})
    return found


_TYPING = ("typing", "typing_extensions")

TABLES = Tables(
    modules_by_path=True,
    constructors=("__new__", "__init__", "__post_init__"),
    call_method="__call__",
    callback_edges=True,
    checked_calls=True,
    computed_names=True,
    kind_tests={
        "builtins.callable": "callable",
        "inspect.isfunction": "function",
        "inspect.ismethod": "method",
        "inspect.isclass": "class",
        "inspect.iscoroutinefunction": "coroutine function",
        "asyncio.iscoroutinefunction": "coroutine function",
    },
    builtins=_names(),
    transfers=_transfers(),
    transparent=frozenset({"functools.wraps", "functools.lru_cache", "functools.cache"}),
    optional=frozenset(
        {
            f"{module}.{name}"
            for module in _TYPING
            for name in ("Optional", "Union", "Final", "ClassVar", "Annotated", "Required")
        }
        | {f"{module}.{name}" for module in _TYPING for name in ("NotRequired", "ReadOnly")}
        | {"dataclasses.InitVar"}
    ),
    element_first=frozenset(
        {"builtins.list", "builtins.set", "builtins.frozenset", "builtins.tuple", "collections.deque"}
        | {
            f"{module}.{name}"
            for module in ("typing", "collections.abc", "typing_extensions")
            for name in (
                "List",
                "Set",
                "FrozenSet",
                "Tuple",
                "Deque",
                "Iterable",
                "Iterator",
                "Sequence",
                "MutableSequence",
                "Collection",
                "AbstractSet",
                "MutableSet",
                "Generator",
                "AsyncIterator",
                "AsyncIterable",
                "AsyncGenerator",
                "Container",
                "Reversible",
            )
        }
    ),
    element_last=frozenset(
        {"builtins.dict", "collections.defaultdict", "collections.OrderedDict", "collections.ChainMap"}
        | {
            f"{module}.{name}"
            for module in ("typing", "collections.abc", "typing_extensions")
            for name in ("Dict", "Mapping", "MutableMapping", "DefaultDict", "OrderedDict", "ChainMap")
        }
    ),
    awaitables=frozenset(
        f"{module}.{name}"
        for module in ("typing", "collections.abc", "asyncio")
        for name in ("Awaitable", "Coroutine", "Future", "Task")
    ),
    contexts=frozenset(
        {f"typing.{name}" for name in ("ContextManager", "AsyncContextManager")}
        | {f"contextlib.{name}" for name in ("AbstractContextManager", "AbstractAsyncContextManager")}
    ),
    property_type="builtins.property",
    property_keys=("fget", "fset", "fdel"),
    class_types=frozenset({"builtins.type", "typing.Type"}),
    self_types=frozenset({"typing.Self", "typing_extensions.Self"}),
    ignored_bases=frozenset(
        {
            "builtins.object",
            "abc.ABC",
            "typing.Generic",
            "typing.Protocol",
            "typing_extensions.Protocol",
            "typing.NamedTuple",
            "typing.TypedDict",
            "typing_extensions.TypedDict",
        }
    ),
    members=_members(),
    plain_types=frozenset(
        f"builtins.{name}"
        for name in ("str", "bytes", "int", "float", "bool", "complex", "list", "dict", "set", "tuple")
    ),
    supertypes=supertypes(),
    test_hooks=(
        "setUp",
        "tearDown",
        "setUpClass",
        "tearDownClass",
        "setUpTestData",
        "asyncSetUp",
        "asyncTearDown",
        "setup_method",
        "teardown_method",
        "setup_class",
        "teardown_class",
    ),
    property_decorators=frozenset({"builtins.property", "functools.cached_property", "abc.abstractproperty"}),
)
