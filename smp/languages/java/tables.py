"""What is known of the JDK: what its generic classes hold, give and hand to functions, and what lies below what."""

# ruff: noqa: SIM905 -- one word a name keeps the lists readable

from __future__ import annotations

from smp.languages.base import Tables, Transfer
from smp.languages.nominal.walk import CONSTRUCTOR, SIGNATURE

_LANG = (
    "Appendable ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException AssertionError AutoCloseable Boolean "
    "Byte CharSequence Character Class ClassCastException ClassLoader ClassNotFoundException CloneNotSupportedException "
    "Cloneable Comparable Deprecated Double Enum Error Exception ExceptionInInitializerError Float FunctionalInterface "
    "IllegalAccessException IllegalArgumentException IllegalMonitorStateException IllegalStateException "
    "IndexOutOfBoundsException InheritableThreadLocal InstantiationException Integer InternalError InterruptedException "
    "Iterable LinkageError Long Math NegativeArraySizeException NoClassDefFoundError NoSuchFieldException "
    "NoSuchMethodException NullPointerException Number NumberFormatException Object OutOfMemoryError Override Package "
    "Process ProcessBuilder Readable Record ReflectiveOperationException Runnable Runtime RuntimeException SafeVarargs "
    "SecurityException SecurityManager Short StackOverflowError StackTraceElement StackWalker StrictMath String StringBuffer "
    "StringBuilder StringIndexOutOfBoundsException SuppressWarnings System Thread ThreadGroup ThreadLocal Throwable "
    "UnsupportedOperationException VirtualMachineError Void"
).split()
_PRIMITIVES = "byte short int long float double char boolean".split()
_BOXES = {
    "byte": "Byte", "short": "Short", "int": "Integer", "long": "Long", "float": "Float", "double": "Double",
    "char": "Character", "boolean": "Boolean",
}  # fmt: skip
_LISTS = "List ArrayList LinkedList Vector Stack AbstractList".split()
_SETS = "Set HashSet LinkedHashSet TreeSet SortedSet NavigableSet EnumSet AbstractSet".split()
_QUEUES = "Queue Deque ArrayDeque PriorityQueue AbstractQueue".split()
_CONCURRENT_LISTS = "CopyOnWriteArrayList".split()
_CONCURRENT_SETS = "CopyOnWriteArraySet ConcurrentSkipListSet".split()
_CONCURRENT_QUEUES = "BlockingQueue LinkedBlockingQueue ArrayBlockingQueue ConcurrentLinkedQueue ConcurrentLinkedDeque BlockingDeque LinkedBlockingDeque PriorityBlockingQueue".split()
_MAPS = "Map HashMap LinkedHashMap TreeMap SortedMap NavigableMap EnumMap WeakHashMap IdentityHashMap Hashtable AbstractMap".split()
_CONCURRENT_MAPS = "ConcurrentMap ConcurrentHashMap ConcurrentSkipListMap".split()
_U, _C, _F, _S = "java.util.", "java.util.concurrent.", "java.util.function.", "java.util.stream."
LISTS = [_U + n for n in _LISTS] + [_C + n for n in _CONCURRENT_LISTS]
SETS = [_U + n for n in _SETS] + [_C + n for n in _CONCURRENT_SETS]
QUEUES = [_U + n for n in _QUEUES] + [_C + n for n in _CONCURRENT_QUEUES]
COLLECTIONS = [*LISTS, *SETS, *QUEUES, "java.util.Collection", "java.util.AbstractCollection"]
MAPS = [_U + n for n in _MAPS] + [_C + n for n in _CONCURRENT_MAPS]
STREAM, OPTIONAL, ITERATOR, ENTRY = _S + "Stream", "java.util.Optional", "java.util.Iterator", "java.util.Map.Entry"
_FUTURES = [_C + n for n in ("Future", "CompletableFuture", "CompletionStage", "FutureTask", "ScheduledFuture")]

FUNCTIONS: dict[str, tuple[str, ...]] = {
    _F + "Function": ("0",), _F + "BiFunction": ("0", "1"), _F + "Consumer": ("0",), _F + "BiConsumer": ("0", "1"),
    _F + "Predicate": ("0",), _F + "BiPredicate": ("0", "1"), _F + "Supplier": (), _F + "UnaryOperator": ("0",),
    _F + "BinaryOperator": ("0", "0"), _F + "ToIntFunction": ("0",), _F + "ToLongFunction": ("0",),
    _F + "ToDoubleFunction": ("0",), _F + "ToIntBiFunction": ("0", "1"), _F + "IntFunction": ("int",),
    _F + "IntPredicate": ("int",), _F + "IntConsumer": ("int",), _F + "IntUnaryOperator": ("int",),
    _F + "IntBinaryOperator": ("int", "int"), _F + "LongFunction": ("long",), _F + "DoubleFunction": ("double",),
    _F + "BooleanSupplier": (), _F + "IntSupplier": (), _F + "LongSupplier": (), _F + "DoubleSupplier": (),
    _F + "ObjIntConsumer": ("0", "int"), "java.lang.Runnable": (), _C + "Callable": (), "java.util.Comparator": ("0", "0"),
}  # fmt: skip


def _calls(*hands: str, result: str = "", at: int = 0) -> Transfer:
    return Transfer(result=result, calls=at, hands=hands)


def _gives(text: str) -> Transfer:
    return Transfer(result=f"type:{text}")


def _collections() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {}
    for kind in [*COLLECTIONS, "java.lang.Iterable"]:
        table[f"{kind}.forEach"] = _calls("0")
        table[f"{kind}.iterator"] = _gives(f"{ITERATOR}[0]")
        table[f"{kind}.stream"] = table[f"{kind}.parallelStream"] = _gives(f"{STREAM}[0]")
        table[f"{kind}.removeIf"] = _calls("0")
        table[f"{kind}.toArray"] = _gives("[][0]")
    for kind in LISTS:
        for name in (
            "get",
            "remove",
            "getFirst",
            "getLast",
            "removeFirst",
            "removeLast",
            "firstElement",
            "lastElement",
        ):
            table[f"{kind}.{name}"] = _gives("0")
        table[f"{kind}.subList"] = _gives("java.util.List[0]")
        table[f"{kind}.listIterator"] = _gives("java.util.ListIterator[0]")
        table[f"{kind}.sort"] = _calls("0", "0")
        table[f"{kind}.replaceAll"] = _calls("0")
    for kind in (*QUEUES, "java.util.LinkedList", "java.util.Stack"):
        for name in "poll peek remove element pop take pollFirst pollLast peekFirst peekLast getFirst getLast".split():
            table[f"{kind}.{name}"] = _gives("0")
    for kind in SETS:
        for name in "first last floor ceiling higher lower pollFirst pollLast".split():
            table[f"{kind}.{name}"] = _gives("0")
    for kind in (ITERATOR, "java.util.ListIterator", "java.util.Enumeration"):
        table[f"{kind}.next"] = table[f"{kind}.nextElement"] = table[f"{kind}.previous"] = _gives("0")
    return table


def _maps() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {}
    for kind in MAPS:
        for name in "get put remove getOrDefault putIfAbsent replace".split():
            table[f"{kind}.{name}"] = _gives("1")
        table[f"{kind}.values"] = _gives("java.util.Collection[1]")
        table[f"{kind}.keySet"] = _gives("java.util.Set[0]")
        table[f"{kind}.entrySet"] = _gives(f"java.util.Set[{ENTRY}[0,1]]")
        for (
            name
        ) in "firstEntry lastEntry floorEntry ceilingEntry higherEntry lowerEntry pollFirstEntry pollLastEntry".split():
            table[f"{kind}.{name}"] = _gives(f"{ENTRY}[0,1]")
        for name in "firstKey lastKey floorKey ceilingKey higherKey lowerKey".split():
            table[f"{kind}.{name}"] = _gives("0")
        table[f"{kind}.forEach"] = table[f"{kind}.replaceAll"] = _calls("0", "1")
        table[f"{kind}.computeIfAbsent"] = _calls("0", result="type:1", at=1)
        table[f"{kind}.computeIfPresent"] = table[f"{kind}.compute"] = _calls("0", "1", result="type:1", at=1)
        table[f"{kind}.merge"] = _calls("1", "1", result="type:1", at=2)
    table[f"{ENTRY}.getKey"] = _gives("0")
    table[f"{ENTRY}.getValue"] = table[f"{ENTRY}.setValue"] = _gives("1")
    return table


def _streams() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {}
    for name in "filter peek takeWhile dropWhile".split():
        table[f"{STREAM}.{name}"] = _calls("0", result=f"type:{STREAM}[0]")
    table[f"{STREAM}.sorted"] = _calls("0", "0", result=f"type:{STREAM}[0]")
    for name in "limit skip distinct parallel sequential unordered onClose".split():
        table[f"{STREAM}.{name}"] = _gives(f"{STREAM}[0]")
    table[f"{STREAM}.map"] = _calls("0", result=f"made:{STREAM}")
    table[f"{STREAM}.flatMap"] = _calls("0", result=f"flattened:{STREAM}")
    for name in "forEach forEachOrdered anyMatch allMatch noneMatch mapToInt mapToLong mapToDouble".split():
        table[f"{STREAM}.{name}"] = _calls("0")
    for name in "findFirst findAny".split():
        table[f"{STREAM}.{name}"] = _gives(f"{OPTIONAL}[0]")
    for name in "min max".split():
        table[f"{STREAM}.{name}"] = _calls("0", "0", result=f"type:{OPTIONAL}[0]")
    table[f"{STREAM}.reduce"] = _calls("0", "0", at=1)
    table[f"{STREAM}.toList"] = _gives("java.util.List[0]")
    table[f"{STREAM}.iterator"] = _gives(f"{ITERATOR}[0]")
    for name in "get orElse orElseThrow".split():
        table[f"{OPTIONAL}.{name}"] = _gives("0")
    table[f"{OPTIONAL}.orElseGet"] = _calls(result="type:0")
    table[f"{OPTIONAL}.ifPresent"] = table[f"{OPTIONAL}.ifPresentOrElse"] = _calls("0")
    table[f"{OPTIONAL}.filter"] = _calls("0", result=f"type:{OPTIONAL}[0]")
    table[f"{OPTIONAL}.map"] = _calls("0", result=f"made:{OPTIONAL}")
    table[f"{OPTIONAL}.flatMap"] = _calls("0", result=f"flattened:{OPTIONAL}")
    table[f"{OPTIONAL}.or"] = _calls(result=f"type:{OPTIONAL}[0]")
    table[f"{OPTIONAL}.stream"] = _gives(f"{STREAM}[0]")
    return table


def _others() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {}
    for kind in _FUTURES:
        table[f"{kind}.get"] = table[f"{kind}.join"] = _gives("0")
        table[f"{kind}.thenAccept"] = table[f"{kind}.whenComplete"] = _calls("0")
        table[f"{kind}.thenApply"] = _calls("0", result=f"made:{_C}CompletableFuture")
        table[f"{kind}.thenCompose"] = _calls("0", result=f"flattened:{_C}CompletableFuture")
    for name in "AtomicReference".split():
        for method in "get getAndSet getPlain getAcquire".split():
            table[f"java.util.concurrent.atomic.{name}.{method}"] = _gives("0")
    for kind in (
        "java.lang.ThreadLocal",
        "java.lang.ref.WeakReference",
        "java.lang.ref.SoftReference",
        _F + "Supplier",
    ):
        table[f"{kind}.get"] = _gives("0")
    table[f"{_C}Callable.call"] = _gives("0")
    table[f"{_F}Function.apply"] = _gives("1")
    table[f"{_F}BiFunction.apply"] = _gives("2")
    table[f"{_F}UnaryOperator.apply"] = _gives("0")
    table["java.util.Objects.requireNonNull"] = Transfer(result="arg:0")
    table["java.util.Objects.requireNonNullElse"] = Transfer(result="arg:0")
    for name in "cast newInstance".split():
        table[f"java.lang.Class.{name}"] = _gives("0")
    for name in ("append", "insert", "reverse", "delete"):
        for kind in ("StringBuilder", "StringBuffer"):
            table[f"java.lang.{kind}.{name}"] = Transfer(result="receiver")
    for name in "toString substring trim strip toLowerCase toUpperCase replace replaceAll concat repeat format valueOf join formatted".split():
        table[f"java.lang.String.{name}"] = Transfer(result="instance:java.lang.String")
    for name in "length indexOf lastIndexOf compareTo hashCode".split():
        table[f"java.lang.String.{name}"] = Transfer(result="instance:int")
    table["java.lang.String.charAt"] = Transfer(result="instance:char")
    for name in "equals isEmpty startsWith endsWith contains matches isBlank equalsIgnoreCase".split():
        table[f"java.lang.String.{name}"] = Transfer(result="instance:boolean")
    for name in ("StringBuilder", "StringBuffer", "Object", "Integer", "Long"):
        table[f"java.lang.{name}.toString"] = Transfer(result="instance:java.lang.String")
    for name in ("toString", "getName", "getSimpleName", "getMessage", "getCanonicalName", "nextLine", "readLine"):
        table[f"*.{name}"] = Transfer(result="instance:java.lang.String")
    for name in ("hashCode", "size", "length", "intValue", "ordinal", "compareTo", "compare", "indexOf"):
        table[f"*.{name}"] = Transfer(result="instance:int")
    for (
        name
    ) in "equals isEmpty contains containsKey containsValue hasNext isPresent booleanValue startsWith endsWith".split():
        table[f"*.{name}"] = Transfer(result="instance:boolean")
    for name in "byte short long float double char".split():
        table[f"*.{name}Value"] = Transfer(result=f"instance:{name}")
    table["*.getClass"] = Transfer(result="instance:java.lang.Class")
    for name in "max min abs".split():
        table[f"java.lang.Math.{name}"] = Transfer(result="arg:0")
    return table


def _supertypes() -> dict[str, tuple[str, ...]]:
    lang = {
        f"java.lang.{box}": ("java.lang.Number", "java.lang.Comparable")
        for box in "Byte Short Integer Long Float Double".split()
    }
    found: dict[str, tuple[str, ...]] = {
        **lang,
        "java.lang.Character": ("java.lang.Comparable",),
        "java.lang.Boolean": ("java.lang.Comparable",),
        "java.lang.Number": ("java.io.Serializable",),
        "java.lang.String": ("java.lang.CharSequence", "java.lang.Comparable", "java.io.Serializable"),
        "java.lang.StringBuilder": ("java.lang.CharSequence", "java.lang.Appendable"),
        "java.lang.StringBuffer": ("java.lang.CharSequence", "java.lang.Appendable"),
        "java.lang.CharSequence": (),
        "java.lang.Iterable": (),
        "java.util.Collection": ("java.lang.Iterable",),
        "java.util.Iterator": (),
        "java.util.Map": (),
        "java.io.FileInputStream": ("java.io.InputStream",),
        "java.io.ByteArrayInputStream": ("java.io.InputStream",),
        "java.io.BufferedInputStream": ("java.io.InputStream",),
        "java.io.ByteArrayOutputStream": ("java.io.OutputStream",),
        "java.io.FileOutputStream": ("java.io.OutputStream",),
        "java.io.PrintStream": ("java.io.OutputStream", "java.lang.Appendable"),
        "java.io.StringReader": ("java.io.Reader",),
        "java.io.InputStreamReader": ("java.io.Reader",),
        "java.io.FileReader": ("java.io.InputStreamReader",),
        "java.io.BufferedReader": ("java.io.Reader",),
        "java.io.StringWriter": ("java.io.Writer",),
        "java.io.PrintWriter": ("java.io.Writer",),
        "java.io.OutputStreamWriter": ("java.io.Writer",),
        "java.io.FileWriter": ("java.io.OutputStreamWriter",),
        "java.io.Writer": ("java.lang.Appendable",),
        "java.io.InputStream": ("java.io.Closeable",),
        "java.io.OutputStream": ("java.io.Closeable",),
        "java.io.Reader": ("java.io.Closeable", "java.lang.Readable"),
        "java.io.Closeable": ("java.lang.AutoCloseable",),
        "java.io.File": ("java.io.Serializable", "java.lang.Comparable"),
        "java.lang.Appendable": (),
        "java.nio.file.Path": ("java.lang.Iterable", "java.lang.Comparable"),
        "java.net.URL": ("java.io.Serializable",),
        "java.net.URI": ("java.io.Serializable", "java.lang.Comparable"),
        "java.lang.Class": ("java.lang.reflect.Type", "java.io.Serializable"),
        "java.lang.reflect.Type": (),
        "java.lang.Throwable": ("java.io.Serializable",),
        "java.lang.Exception": ("java.lang.Throwable",),
        "java.lang.Error": ("java.lang.Throwable",),
        "java.lang.RuntimeException": ("java.lang.Exception",),
        "java.io.IOException": ("java.lang.Exception",),
    }
    for name in _LANG:
        if name.endswith("Exception"):
            found.setdefault(f"java.lang.{name}", ("java.lang.RuntimeException",))
    for kind in LISTS:
        found[kind] = ("java.util.List",) if kind != "java.util.List" else ("java.util.Collection",)
    for kind in SETS:
        found[kind] = ("java.util.Set",) if kind != "java.util.Set" else ("java.util.Collection",)
    for kind in QUEUES:
        found[kind] = ("java.util.Queue",) if kind != "java.util.Queue" else ("java.util.Collection",)
    found["java.util.LinkedList"] = ("java.util.List", "java.util.Deque")
    for kind in MAPS:
        found.setdefault(kind, ("java.util.Map",))
    return found


_OBJECT = frozenset("equals hashCode toString getClass notify notifyAll wait clone finalize".split())
_PLAIN = ["[]", *_PRIMITIVES, *(f"java.lang.{n}" for n in (*_BOXES.values(), "String", "StringBuilder", "Class"))]

TABLES = Tables(
    constructors=(CONSTRUCTOR,),
    builtins={
        **{name: f"java.lang.{name}" for name in _LANG},
        **{f"java.lang.{name}": f"java.lang.{name}" for name in _LANG},
        **{name: name for name in (*_PRIMITIVES, "[]")},
    },
    transfers={**_collections(), **_maps(), **_streams(), **_others()},
    element_first=frozenset(
        [*COLLECTIONS, "[]", "java.lang.Iterable", ITERATOR, "java.util.ListIterator", STREAM, OPTIONAL, *_FUTURES]
    ),
    element_last=frozenset(MAPS),
    ignored_bases=frozenset({"java.lang.Record", "java.io.Serializable", "java.lang.Cloneable"}),
    members={
        "java.lang.Object": _OBJECT,
        "java.lang.Enum": frozenset("name ordinal compareTo getDeclaringClass describeConstable".split()),
        "java.lang.Comparable": frozenset({"compareTo"}),
        "java.lang.Runnable": frozenset({"run"}),
        "java.lang.AutoCloseable": frozenset({"close"}),
        "java.io.Closeable": frozenset({"close"}),
        "java.lang.Iterable": frozenset({"iterator", "forEach", "spliterator"}),
        "java.util.Iterator": frozenset({"next", "hasNext", "remove", "forEachRemaining"}),
        "java.util.concurrent.Callable": frozenset({"call"}),
    },
    plain_types=frozenset(_PLAIN),
    closed_types=frozenset({"java.lang.Object"}),
    test_hooks=("setUp", "tearDown"),
    sequence_type="java.util.List",
    tuple_type="[]",
    mapping_type="java.util.Map",
    generator_type="java.util.Iterator",
    callback_edges=True,
    call_member=SIGNATURE,
    overloads=True,
    supertypes=_supertypes(),
    widenings=("byte", "short", "char", "int", "long", "float", "double"),
    boxes={primitive: f"java.lang.{box}" for primitive, box in _BOXES.items()},
    object_type="java.lang.Object",
    function_types=FUNCTIONS,
    iterator_methods=("iterator",),
    factories=frozenset(
        "of valueOf forName getInstance newInstance compile now create copyOf ofNullable empty".split()
    ),
)
