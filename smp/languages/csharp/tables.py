"""What is known of .NET: what its generic classes hold, give and hand to functions, and what lies below what."""

# ruff: noqa: SIM905 -- one word a name keeps the lists readable

from __future__ import annotations

from smp.languages.base import Tables, Transfer
from smp.languages.nominal.walk import CONSTRUCTOR, SIGNATURE

_G, _S, _T = "System.Collections.Generic.", "System.", "System.Threading.Tasks."
_KEYWORDS = {
    "bool": "bool", "byte": "byte", "sbyte": "sbyte", "short": "short", "ushort": "ushort", "int": "int", "uint": "uint",
    "long": "long", "ulong": "ulong", "float": "float", "double": "double", "decimal": "decimal", "char": "char",
    "string": "System.String", "object": "System.Object", "nint": "nint", "nuint": "nuint",
}  # fmt: skip
_ALIASES = {
    "String": "System.String", "Object": "System.Object", "Int32": "int", "Int64": "long", "Boolean": "bool", "Double": "double",
    "Byte": "byte", "Char": "char", "Decimal": "decimal", "Single": "float", "Int16": "short", "UInt32": "uint",
    "UInt64": "ulong",
}  # fmt: skip
_SYSTEM = (
    "Action AggregateException AppContext AppDomain ArgumentException ArgumentNullException ArgumentOutOfRangeException Array "
    "ArraySegment Attribute BitConverter Buffer Comparison Console Convert DateOnly DateTime DateTimeOffset Delegate Enum "
    "Environment EventArgs EventHandler Exception FormatException Func GC Guid IAsyncDisposable IComparable IDisposable "
    "IEquatable IFormatProvider IFormattable IndexOutOfRangeException InvalidCastException InvalidOperationException IServiceProvider "
    "Lazy Math MemoryExtensions NotImplementedException NotSupportedException Nullable NullReferenceException "
    "ObjectDisposedException OperationCanceledException OverflowException Predicate Progress Random ReadOnlyMemory ReadOnlySpan "
    "Span StringComparer StringComparison TimeOnly TimeSpan TimeoutException Tuple Type UnauthorizedAccessException Uri ValueTuple "
    "ValueType Version"
).split()
_LISTS = "List IList IReadOnlyList LinkedList".split()
_PLAIN_COLLECTIONS = (
    "IEnumerable ICollection IReadOnlyCollection HashSet ISet IReadOnlySet SortedSet Queue Stack PriorityQueue "
    "IAsyncEnumerable IEnumerator IAsyncEnumerator"
).split()
_MAPS = "Dictionary IDictionary IReadOnlyDictionary SortedDictionary SortedList".split()
LISTS = [_G + name for name in _LISTS]
COLLECTIONS = [*LISTS, *(_G + name for name in _PLAIN_COLLECTIONS)]
OTHERS = {
    "IQueryable": "System.Linq.IQueryable", "IOrderedEnumerable": "System.Linq.IOrderedEnumerable",
    "IGrouping": "System.Linq.IGrouping", "Collection": "System.Collections.ObjectModel.Collection",
    "ReadOnlyCollection": "System.Collections.ObjectModel.ReadOnlyCollection",
    "ObservableCollection": "System.Collections.ObjectModel.ObservableCollection",
    "ImmutableArray": "System.Collections.Immutable.ImmutableArray", "ImmutableList": "System.Collections.Immutable.ImmutableList",
    "ConcurrentBag": "System.Collections.Concurrent.ConcurrentBag",
    "ConcurrentQueue": "System.Collections.Concurrent.ConcurrentQueue",
    "ConcurrentStack": "System.Collections.Concurrent.ConcurrentStack", "Span": "System.Span",
    "ReadOnlySpan": "System.ReadOnlySpan", "Memory": "System.Memory",
}  # fmt: skip
SEQUENCES = [*COLLECTIONS, *OTHERS.values(), "[]"]
MAPS = [
    *(_G + name for name in _MAPS),
    "System.Collections.Concurrent.ConcurrentDictionary",
    "System.Collections.Immutable.ImmutableDictionary",
    "System.Collections.ObjectModel.ReadOnlyDictionary",
]
PAIR, SEQUENCE, TASK = _G + "KeyValuePair", _G + "IEnumerable", _T + "Task"
_NAMES = {
    **{name: _S + name for name in _SYSTEM},
    **{name: _G + name for name in (*_LISTS, *_PLAIN_COLLECTIONS, *_MAPS, "KeyValuePair", "IEqualityComparer", "IComparer",
                                    "EqualityComparer", "Comparer", "KeyNotFoundException")},
    **OTHERS,
    "ConcurrentDictionary": "System.Collections.Concurrent.ConcurrentDictionary",
    "Task": TASK, "ValueTask": _T + "ValueTask", "TaskCompletionSource": _T + "TaskCompletionSource",
    "CancellationToken": "System.Threading.CancellationToken",
    "CancellationTokenSource": "System.Threading.CancellationTokenSource", "Thread": "System.Threading.Thread",
    "Interlocked": "System.Threading.Interlocked", "StringBuilder": "System.Text.StringBuilder",
    "Encoding": "System.Text.Encoding", "Regex": "System.Text.RegularExpressions.Regex", "Path": "System.IO.Path",
    "File": "System.IO.File", "Directory": "System.IO.Directory", "Stream": "System.IO.Stream",
    "MemoryStream": "System.IO.MemoryStream", "TextWriter": "System.IO.TextWriter", "TextReader": "System.IO.TextReader",
    "StringWriter": "System.IO.StringWriter", "StringReader": "System.IO.StringReader", "Enumerable": "System.Linq.Enumerable",
    "Debug": "System.Diagnostics.Debug", "Stopwatch": "System.Diagnostics.Stopwatch",
    "CultureInfo": "System.Globalization.CultureInfo", "Expression": "System.Linq.Expressions.Expression",
    "Assembly": "System.Reflection.Assembly", "MethodInfo": "System.Reflection.MethodInfo",
    "PropertyInfo": "System.Reflection.PropertyInfo", "MemberInfo": "System.Reflection.MemberInfo",
    "HttpClient": "System.Net.Http.HttpClient", "Assert": "Assert",
}  # fmt: skip
_NUMBERS = "sbyte byte short ushort int uint long ulong float double decimal".split()


def _calls(*hands: str, result: str = "", at: int = 0) -> Transfer:
    return Transfer(result=result, calls=at, hands=hands)


def _gives(text: str) -> Transfer:
    return Transfer(result=f"type:{text}")


def _linq(kind: str, element: str) -> dict[str, Transfer]:
    """Methods that every sequence has; element: the type of its elements in terms of its arguments."""
    table: dict[str, Transfer] = {}
    for name in "Where TakeWhile SkipWhile".split():
        table[name] = _calls(element, result=f"type:{SEQUENCE}[{element}]")
    for name in "OrderBy OrderByDescending ThenBy ThenByDescending DistinctBy".split():
        table[name] = _calls(element, result=f"type:{SEQUENCE}[{element}]")
    for (
        name
    ) in "Take Skip Distinct Reverse Concat Union Except Intersect Append Prepend AsEnumerable DefaultIfEmpty".split():
        table[name] = _gives(f"{SEQUENCE}[{element}]")
    table["AsQueryable"] = _gives(f"System.Linq.IQueryable[{element}]")
    for name in "First FirstOrDefault Last LastOrDefault Single SingleOrDefault".split():
        table[name] = _calls(element, result=f"type:{element}")
    for name in "FirstAsync FirstOrDefaultAsync SingleAsync SingleOrDefaultAsync LastOrDefaultAsync".split():
        table[name] = _calls(element, result=f"type:{TASK}[{element}]")
    for name in "ElementAt ElementAtOrDefault MaxBy MinBy".split():
        table[name] = _gives(element)
    table["Select"] = _calls(element, "int", result=f"made:{SEQUENCE}")
    table["SelectMany"] = _calls(element, result=f"flattened:{SEQUENCE}")
    for name in "Any All Count Sum Average Min Max LongCount ForEach".split():
        table[name] = _calls(element)
    table["ToList"] = _gives(f"{_G}List[{element}]")
    table["ToListAsync"] = _gives(f"{TASK}[{_G}List[{element}]]")
    table["ToArray"] = _gives(f"[][{element}]")
    table["ToArrayAsync"] = _gives(f"{TASK}[[][{element}]]")
    table["ToHashSet"] = _gives(f"{_G}HashSet[{element}]")
    table["GetEnumerator"] = _gives(f"{_G}IEnumerator[{element}]")
    table["GroupBy"] = _calls(element, result=f"type:{SEQUENCE}[{SEQUENCE}[{element}]]")
    return {f"{kind}.{name}": transfer for name, transfer in table.items()}


def _collections() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {}
    for kind in SEQUENCES:
        table.update(_linq(kind, "0"))
    for kind in MAPS:
        table.update(_linq(kind, f"{PAIR}[0,1]"))
        table[f"{kind}.GetOrAdd"] = table[f"{kind}.AddOrUpdate"] = _calls("0", result="type:1", at=1)
        table[f"{kind}.GetValueOrDefault"] = _gives("1")
    for kind in LISTS:
        for name in "Find FindLast".split():
            table[f"{kind}.{name}"] = _calls("0", result="type:0")
        table[f"{kind}.FindAll"] = _calls("0", result=f"type:{_G}List[0]")
        for name in "Exists TrueForAll RemoveAll FindIndex".split():
            table[f"{kind}.{name}"] = _calls("0")
        table[f"{kind}.GetRange"] = _gives(f"{_G}List[0]")
        table[f"{kind}.Sort"] = _calls("0", "0")
    for kind in ("Queue", "Stack", "PriorityQueue"):
        for name in "Dequeue Peek Pop".split():
            table[f"{_G}{kind}.{name}"] = _gives("0")
    return table


def _others() -> dict[str, Transfer]:
    table: dict[str, Transfer] = {}
    for kind in (TASK, _T + "ValueTask"):
        table[f"{kind}.ConfigureAwait"] = table[f"{kind}.AsTask"] = table[f"{kind}.WaitAsync"] = Transfer(
            result="receiver"
        )
    table[f"{TASK}.FromResult"] = Transfer(result="arg:0")
    table[f"{TASK}.Run"] = Transfer(result="call", calls=0)
    table["System.Lazy"] = Transfer(calls=0)
    table["*.GetAwaiter"] = Transfer(result="receiver")
    for name in "ToString Trim TrimEnd TrimStart Substring Replace ToLower ToUpper ToLowerInvariant ToUpperInvariant Join Format Concat".split():
        table[f"System.String.{name}"] = Transfer(result="instance:System.String")
    for name in ("ToString", "ReadLine", "ReadToEnd", "GetString"):
        table[f"*.{name}"] = Transfer(result="instance:System.String")
    for name in "Equals Contains ContainsKey StartsWith EndsWith IsNullOrEmpty IsNullOrWhiteSpace Any All TryGetValue MoveNext".split():
        table.setdefault(f"*.{name}", Transfer(result="instance:bool"))
    for name in "GetHashCode CompareTo IndexOf Compare".split():
        table[f"*.{name}"] = Transfer(result="instance:int")
    table["*.GetType"] = Transfer(result="instance:System.Type")
    for name in "Append AppendLine Insert AppendFormat Clear".split():
        table[f"System.Text.StringBuilder.{name}"] = Transfer(result="receiver")
    return table


def _properties() -> dict[str, str]:
    table = {f"{PAIR}.Key": "0", f"{PAIR}.Value": "1", "System.Nullable.Value": "0", "System.Lazy.Value": "0"}
    for kind in (TASK, _T + "ValueTask"):
        table[f"{kind}.Result"] = "0"
    for kind in MAPS:
        table[f"{kind}.Values"], table[f"{kind}.Keys"] = f"{_G}ICollection[1]", f"{_G}ICollection[0]"
        table[f"{kind}.Count"] = "int"
    for kind in SEQUENCES:
        table[f"{kind}.Count"] = table[f"{kind}.Length"] = "int"
    for name in ("IEnumerator", "IAsyncEnumerator"):
        table[f"{_G}{name}.Current"] = "0"
    table["System.String.Length"] = "int"
    table["System.Type.Name"] = table["System.Type.FullName"] = table["System.Exception.Message"] = "System.String"
    table["System.Threading.AsyncLocal.Value"] = "0"
    return table


def _supertypes() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {
        SEQUENCE: ("System.Collections.IEnumerable",),
        "System.Collections.IEnumerable": (),
    }
    for kind in SEQUENCES:
        found.setdefault(kind, (SEQUENCE,))
    found[_G + "ICollection"] = found[_G + "IReadOnlyCollection"] = (SEQUENCE,)
    found[_G + "IList"] = (_G + "ICollection",)
    found[_G + "IReadOnlyList"] = (_G + "IReadOnlyCollection",)
    for kind in (_G + "List", "[]", OTHERS["Collection"], OTHERS["ImmutableArray"], OTHERS["ImmutableList"]):
        found[kind] = (_G + "IList", _G + "IReadOnlyList")
    for kind in (_G + "HashSet", _G + "SortedSet"):
        found[kind] = (_G + "ISet", _G + "ICollection", _G + "IReadOnlyCollection")
    found[_G + "IDictionary"] = found[_G + "IReadOnlyDictionary"] = (SEQUENCE,)
    for kind in MAPS:
        found.setdefault(kind, (_G + "IDictionary", _G + "IReadOnlyDictionary"))
    found["System.String"] = (SEQUENCE, "System.IComparable", "System.IFormattable")
    found["System.Text.StringBuilder"] = ()
    found["System.Exception"] = ()
    found["System.Type"] = ("System.Reflection.MemberInfo",)
    for name in _SYSTEM:
        if name.endswith("Exception") and name != "Exception":
            found[_S + name] = ("System.Exception",)
    found["System.ArgumentNullException"] = found["System.ArgumentOutOfRangeException"] = ("System.ArgumentException",)
    for name in ("StringWriter", "StreamWriter"):
        found[f"System.IO.{name}"] = ("System.IO.TextWriter",)
    for name in ("StringReader", "StreamReader"):
        found[f"System.IO.{name}"] = ("System.IO.TextReader",)
    for name in ("MemoryStream", "FileStream"):
        found[f"System.IO.{name}"] = ("System.IO.Stream",)
    return found


_OBJECT = frozenset("Equals GetHashCode GetType MemberwiseClone ReferenceEquals ToString".split())
FUNCTIONS = {
    "System.Action": ("*",),
    "System.Func": ("*-1",),
    "System.Predicate": ("0",),
    "System.Comparison": ("0", "0"),
    "System.EventHandler": ("System.Object", "0"),
}

TABLES = Tables(
    constructors=(CONSTRUCTOR,),
    call_method=SIGNATURE,
    builtins={
        **_KEYWORDS,
        **_ALIASES,
        **_NAMES,
        "System": "System",
        "Microsoft": "Microsoft",
        "Xunit": "Xunit",
        "NUnit": "NUnit",
        "Newtonsoft": "Newtonsoft",
        "[]": "[]",
        "System.Enum": "System.Enum",
    },
    transfers={**_collections(), **_others()},
    element_first=frozenset([*SEQUENCES, TASK, _T + "ValueTask", "System.Nullable", "System.Lazy"]),
    element_last=frozenset(MAPS),
    pair_types=frozenset(MAPS),
    awaitables=frozenset({TASK, _T + "ValueTask"}),
    optional=frozenset({"System.Nullable"}),
    ignored_bases=frozenset({"System.ValueType", "System.IEquatable", "System.IComparable"}),
    members={
        "System.Object": _OBJECT,
        "System.Enum": frozenset("CompareTo HasFlag GetTypeCode".split()),
        "System.IDisposable": frozenset({"Dispose"}),
        "System.IAsyncDisposable": frozenset({"DisposeAsync"}),
        SEQUENCE: frozenset({"GetEnumerator"}),
    },
    plain_types=frozenset([*_KEYWORDS.values(), "[]", "System.Type", "System.Text.StringBuilder", "null", *FUNCTIONS])
    - {"System.Object"},
    closed_types=frozenset({"System.Object"}),
    sequence_type=_G + "List",
    tuple_type=PAIR,
    mapping_type=_G + "Dictionary",
    generator_type=SEQUENCE,
    callback_edges=True,
    call_member=SIGNATURE,
    overloads=True,
    supertypes=_supertypes(),
    widenings=(
        "sbyte",
        "byte",
        "short",
        "ushort",
        "char",
        "int",
        "uint",
        "long",
        "ulong",
        "float",
        "double",
        "decimal",
    ),
    object_type="System.Object",
    function_types=FUNCTIONS,
    iterator_methods=("GetEnumerator",),
    factories=frozenset("Create Parse FromSeconds FromMilliseconds FromMinutes NewGuid Empty".split()),
    properties=_properties(),
)
