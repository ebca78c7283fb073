"""What `@pytest.mark.parametrize` hands to the parameters of a test."""

from __future__ import annotations

import tree_sitter
from msgspec import structs

from smp.domain.source import NOTHING, ArgKind, Op, Param
from smp.languages.python import grammar as g
from smp.languages.python.definitions import string_value
from smp.languages.python.statements import StatementWalk


class ParametrizeWalk(StatementWalk):
    """Reads such decorators."""

    def parametrized(self, params: list[Param], decorators: list[tuple[int, tree_sitter.Node]]) -> list[Param]:
        """The parameters; those that are named have the values as their default, which is what they hold when nobody calls."""
        for value, node in decorators:
            callee, holder = node.child_by_field_id(g.F_FUNCTION), node.child_by_field_id(g.F_ARGUMENTS)
            if value == NOTHING or callee is None or holder is None or not self.text(callee).endswith("parametrize"):
                continue
            op = self.b.ops[value]
            plain = self.plain_arguments(holder)
            keywords = {
                self.b.names[op[at + 1]]: op[at + 2] for at in range(2, len(op), 3) if op[at] == ArgKind.KEYWORD
            }
            given = op[7] if len(op) > 7 and op[5] == ArgKind.POSITIONAL else keywords.get("argvalues", NOTHING)
            if not plain or given == NOTHING or "indirect" in keywords:
                continue
            names = self._names(plain[0])
            for place, name in enumerate(names):
                element = self._element(given, place if len(names) > 1 else NOTHING)
                params = [
                    structs.replace(p, default=element, injected=False, optional=True)
                    if p.name == name and p.default == NOTHING
                    else p
                    for p in params
                ]
        return params

    def _names(self, node: tree_sitter.Node) -> list[str]:
        if node.type in ("tuple", "list"):
            parts = [string_value(child, self.source) or "" for child in node.named_children]
        else:
            parts = (string_value(node, self.source) or "").split(",")
        return [part.strip() for part in parts]

    def _element(self, given: int, place: int) -> int:
        """One value of each set; place: which of several, NOTHING where a set is one value."""
        op = self.b.ops[given]
        if op[0] != Op.SEQ:
            return self._part(self.b.op(Op.ITER, given), place)
        found = []
        for position in range(2, len(op), 2):
            mark, element = op[position], op[position + 1]
            if element != NOTHING:
                found.append(self._part(self.b.op(Op.ITER, element) if mark == 1 else element, place))
        return self.b.phi([one for one in found if one != NOTHING])

    def _part(self, element: int, place: int) -> int:
        op = self.b.ops[element]
        if op[0] == Op.CALL and op[1] != NOTHING:
            callee = self.b.ops[op[1]]
            if callee[0] == Op.ATTR and self.b.names[callee[2]] == "param":
                at = 4 + 3 * max(place, 0)
                return op[at] if at < len(op) and op[at - 2] == ArgKind.POSITIONAL else NOTHING
        return element if place == NOTHING else self.b.op(Op.UNPACK, element, place, 0)
