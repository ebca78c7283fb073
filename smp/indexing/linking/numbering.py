"""The numbers of a file's ops, kept from version to version.

Other files, logs and mail name an op by its number. An edit shifts all numbers behind it, so a new version is written in
the numbers of the one before: ops that are still there keep theirs, new ones get fresh ones, numbers of ops that are gone
stay empty. Which op is which is found by anchors (runs of ops that occur once in either version, as in a patience diff). A
mistake costs time, not truth: what an op says is compared before anybody relies on it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from smp.domain.source import NOTHING, FileSummary, Op, encode_sites

OPERANDS: dict[int, str] = {
    Op.CONST: "nn",
    Op.UNBOUND: "n",
    Op.VAR: "v",
    Op.IMPORT: "i",
    Op.FUNC: "f",
    Op.CLASS: "c",
    Op.ATTR: "on",
    Op.ITEM: "onxo",
    Op.CALL: "o*xno",
    Op.NEW: "o*xno",
    Op.PHI: "*o",
    Op.SEQ: "n*xo",
    Op.MAP: "n*no",
    Op.ITER: "o",
    Op.AWAIT: "o",
    Op.ENTER: "o",
    Op.NARROW: "oox",
    Op.PARAM: "fx",
    Op.RECEIVER: "f",
    Op.SUPER: "cf",
    Op.INSTANCE: "o",
    Op.APPLY: "o*o",
    Op.UNION: "*o",
    Op.DECORATED: "oo",
    Op.STORE: "vo",
    Op.STORE_ATTR: "ono",
    Op.STORE_ITEM: "ono",
    Op.ALIAS_TYPE: "o*n",
    Op.GLOBAL: "n",
    Op.UNPACK: "oxx",
    Op.BINARY: "oon",
    Op.TYPE_NAMES: "n",
    Op.DECLARED: "oo",
    Op.PREDICATE: "oox",
    Op.WHERE: "onnx",
    Op.NAMED_LIKE: "onn",
    Op.HOLDER: "n*o",
    Op.TYPE_PARAM: "no",
    Op.MEMBER_TYPE: "o*o",
    Op.EXTENDED: "ono",
}
"""Meaning of each operand: op, name, variable, import, function, class, or a plain number; behind `*` a repeated group."""

EMPTY = (int(Op.UNION),)
"""Stands where an op is gone: a type without parts, which nothing refers to."""
_ANCHOR = 4
"""Ops in a run that tells places apart."""
_NAMED = frozenset({Op.VAR, Op.STORE, Op.IMPORT, Op.FUNC, Op.CLASS, Op.PARAM, Op.RECEIVER, Op.SUPER})


def operand_kinds(op: tuple[int, ...]) -> str:
    """One letter of `OPERANDS` for each operand of an op."""
    fixed, _, repeated = OPERANDS[op[0]].partition("*")
    return fixed + repeated * ((len(op) - 1 - len(fixed)) // len(repeated) if repeated else 0)


def renumber(old: FileSummary, new: FileSummary) -> list[int]:
    """For each op of a new version its number, given the version before in its own numbers."""
    before, after = _signs(old), _signs(new)
    pairs = _aligned(before, after)
    fresh = len(before)
    numbers: list[int] = []
    for at in range(len(after)):
        known = pairs.get(at)
        if known is None:
            known, fresh = fresh, fresh + 1
        numbers.append(known)
    return numbers


def written_in(numbers: Sequence[int], size: int, summary: FileSummary) -> FileSummary:
    """A summary in other numbers, with room for `size` ops."""
    ops: list[tuple[int, ...]] = [EMPTY] * size
    for at, op in enumerate(summary.ops):
        kinds = operand_kinds(op)
        ops[numbers[at]] = (
            op[0],
            *(numbers[v] if k == "o" and v >= 0 else v for k, v in zip(kinds, op[1:], strict=False)),
            *op[1 + len(kinds) :],
        )

    def one(at: int) -> int:
        return numbers[at] if at >= 0 else at

    def each(ops: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(map(one, ops))

    def named(pairs: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        return tuple((name, one(at)) for name, at in pairs)

    exports = replace(
        summary.exports,
        names=named(summary.exports.names),
        types=named(summary.exports.types),
        star_ops=each(summary.exports.star_ops),
    )
    return replace(_with_definitions(summary, one, each, named), ops=tuple(ops), exports=exports)


def _with_definitions(
    summary: FileSummary,
    one: Callable[[int], int],
    each: Callable[[tuple[int, ...]], tuple[int, ...]],
    named: Callable[[tuple[tuple[str, int], ...]], tuple[tuple[str, int], ...]],
) -> FileSummary:
    return replace(
        summary,
        site_rows=encode_sites(replace(site, op=one(site.op), other=one(site.other)) for site in summary.sites),
        functions=tuple(
            replace(
                function,
                params=tuple(replace(p, default=one(p.default), annotation=one(p.annotation)) for p in function.params),
                returns=each(function.returns),
                yields=each(function.yields),
                annotation=one(function.annotation),
                predicate=one(function.predicate),
            )
            for function in summary.functions
        ),
        classes=tuple(
            replace(
                cls,
                bases=each(cls.bases),
                implements=each(cls.implements),
                members=named(cls.members),
                annotations=named(cls.annotations),
                static_members=named(cls.static_members),
                metaclass=one(cls.metaclass),
            )
            for cls in summary.classes
        ),
        extensions=tuple(
            replace(
                extension,
                cls=one(extension.cls),
                members=named(extension.members),
                static_members=named(extension.static_members),
                implements=each(extension.implements),
            )
            for extension in summary.extensions
        ),
    )


def _signs(summary: FileSummary) -> list[object]:
    """What an op looks like wherever it stands; empty places look like nothing else."""
    names = summary.names
    signs: list[object] = []
    for at, op in enumerate(summary.ops):
        code = op[0]
        if code == Op.CALL or code == Op.NEW or code == Op.PHI:
            signs.append((code, len(op)))
        elif op == EMPTY:
            signs.append((EMPTY, at))
        elif code in _NAMED:
            signs.append((code, *_subjects(summary, op)))
        else:
            kinds = operand_kinds(op)
            signs.append(
                (code, len(op), *(names[v] for k, v in zip(kinds, op[1:], strict=False) if k == "n" and v >= 0))
            )
    return signs


def _subjects(summary: FileSummary, op: tuple[int, ...]) -> list[object]:
    found: list[object] = []
    for kind, value in zip(operand_kinds(op), op[1:], strict=False):
        if value == NOTHING:
            found.append(value)
        elif kind == "v":
            found.append(summary.variables[value].name)
        elif kind == "i":
            found.append((summary.imports[value].module, summary.imports[value].name, summary.imports[value].bound))
        elif kind == "f":
            function = summary.functions[value]
            found.append((function.name, summary.definitions[function.owner]))
        elif kind == "c":
            found.append((summary.classes[value].name, summary.definitions[summary.classes[value].owner]))
        elif kind == "x":
            found.append(value)
    return found


def _aligned(before: list[object], after: list[object]) -> dict[int, int]:
    """Position in the new sequence → position in the old one, rising."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    pairs = {at: at for at in range(head)}
    pairs |= {len(after) - 1 - at: len(before) - 1 - at for at in range(tail)}
    old_end, new_end = len(before) - tail, len(after) - tail
    old_at, new_at = head, head
    for new, old in [*_anchors(before, after, head, old_end, new_end), (new_end, old_end)]:
        # Forward from the last anchor, then backward from this one: what is alike is the same.
        while new_at < new and old_at < old and after[new_at] == before[old_at]:
            pairs[new_at] = old_at
            new_at, old_at = new_at + 1, old_at + 1
        back = 1
        while new - back >= new_at and old - back >= old_at and after[new - back] == before[old - back]:
            pairs[new - back] = old - back
            back += 1
        new_at, old_at = new, old
    return pairs


def _anchors(before: list[object], after: list[object], head: int, old_end: int, new_end: int) -> list[tuple[int, int]]:
    """Places (new, old) that begin the same run of ops, each the only one in its version; both rising."""
    old = _single_runs(before, head, old_end)
    new = _single_runs(after, head, new_end)
    meeting = sorted((new[run], old[run]) for run in new.keys() & old.keys())
    # The longest rising chain (patience sorting).
    tops: list[int] = []
    piles: list[int] = []
    previous: list[int] = []
    for at, (_, place) in enumerate(meeting):
        pile = bisect_left(tops, place)
        previous.append(piles[pile - 1] if pile else NOTHING)
        if pile == len(tops):
            tops.append(place)
            piles.append(at)
        else:
            tops[pile], piles[pile] = place, at
    chain: list[tuple[int, int]] = []
    at = piles[-1] if piles else NOTHING
    while at != NOTHING:
        chain.append(meeting[at])
        at = previous[at]
    return chain[::-1]


def _single_runs(signs: list[object], start: int, end: int) -> dict[tuple[object, ...], int]:
    found: dict[tuple[object, ...], int] = {}
    for at in range(start, end - _ANCHOR + 1):
        run = tuple(signs[at : at + _ANCHOR])
        found[run] = NOTHING if run in found else at
    return {run: at for run, at in found.items() if at != NOTHING}
