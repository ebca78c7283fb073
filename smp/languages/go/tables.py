"""What is known of Go's predeclared names and of functions that call what they are given."""

from __future__ import annotations

from smp.languages.base import Tables, Transfer
from smp.languages.go.types import BASIC, CALL_MEMBER, TUPLE

_NAMES = [
    "append",
    "cap",
    "clear",
    "close",
    "complex",
    "copy",
    "delete",
    "imag",
    "len",
    "make",
    "max",
    "min",
    "new",
    "panic",
    "print",
    "println",
    "real",
    "recover",
    "error",
    "any",
    "comparable",
    "nil",
    "true",
    "false",
    "iota",
]
_CONTAINERS = frozenset({"[]", "map", "chan"})
_CALLERS = {
    "sync.Once.Do": 0, "sync.OnceFunc": 0, "testing.T.Run": 1, "testing.B.Run": 1, "testing.T.Cleanup": 0, "testing.B.Cleanup": 0,
    "testing.F.Fuzz": 0, "sort.Slice": 1, "sort.SliceStable": 1, "sort.Search": 1, "slices.SortFunc": 1,
    "slices.SortStableFunc": 1, "slices.IndexFunc": 1, "slices.ContainsFunc": 1, "slices.DeleteFunc": 1, "strings.Map": 0,
    "strings.FieldsFunc": 1, "strings.IndexFunc": 1, "strings.TrimFunc": 1, "bytes.Map": 0, "path/filepath.Walk": 1,
    "path/filepath.WalkDir": 1, "io/fs.WalkDir": 2, "time.AfterFunc": 1, "context.AfterFunc": 1,
    "golang.org/x/sync/errgroup.Group.Go": 0, "testing.AllocsPerRun": 1,
}  # fmt: skip

TABLES = Tables(
    call_method=CALL_MEMBER,
    call_member=CALL_MEMBER,
    builtins={name: name for name in (*_NAMES, *sorted(BASIC), *sorted(_CONTAINERS), TUPLE)},
    transfers={name: Transfer(calls=position) for name, position in _CALLERS.items()},
    element_last=_CONTAINERS,
    element_first=frozenset({"map", "chan"}),
    sequence_type="[]",
    tuple_type=TUPLE,
    mapping_type="map",
    plain_types=BASIC,
    callback_edges=True,
    embedding=True,
    structural=True,
    plain_construction=True,
)
