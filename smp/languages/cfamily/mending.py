"""Takes out of a file what only the preprocessor understands, so that the rest parses; every byte keeps its place.

The grammars read source that has not been preprocessed. Three habits of real code break them: attribute macros among the words
of a declaration (`ZEXTERN int ZEXPORT inflate(…)`), prototypes wrapped in a macro (`int f OF((int a));`), and conditionals
whose branches open different braces. Texts are read from the file as it is; only the parser sees the mended bytes.
"""

from __future__ import annotations

import re

_RAW_STRING = re.compile(rb'R"([^()\\\s"]{1,64})\((.*?)\)\1"', re.DOTALL)
_KEYWORD_TYPES = rb"static|extern|inline|const|void|int|char|unsigned|signed|long|short|float|double|struct|union|enum|bool|class|virtual|explicit|constexpr|template|auto"
_BEFORE_TYPE = re.compile(
    rb"^([ \t]*)([A-Za-z_]\w*(?:\([^()\n]*\))?)(?=[ \t]+(?:" + _KEYWORD_TYPES + rb")\b)", re.MULTILINE
)
_LEADING = re.compile(
    rb"^([ \t]*)((?:[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:\([^()\n]*\))?[ \t]+)+)"
    rb"(?=[A-Za-z_][\w:<>,. ]*[ \t*&>]+(?:operator\b|~?[A-Za-z_]\w*[ \t]*\())",
    re.MULTILINE,
)
_STANDALONE = re.compile(rb"^[A-Z][A-Z0-9]*_[A-Z0-9_]+[ \t]*(?:\([^;{}\n]*\))?[ \t]*$(?!\s*[{(])", re.MULTILINE)
_BEFORE_NAME = re.compile(
    rb"^(?P<head>(?:(?:static|extern|inline|const|unsigned|struct|enum|union)[ \t]+)*[A-Za-z_][\w:]*[ \t*&]+)"
    rb"(?P<macro>[A-Z_][A-Z0-9_]{2,})(?=[ \t]+[*&]*[a-z_A-Z]\w*[ \t]*\()",
    re.MULTILINE,
)
_CLASS_MACRO = re.compile(
    rb"\b(class|struct|union)[ \t]+([A-Z_][A-Z0-9_]*(?:\([^()\n]*\))?)(?=[ \t]+[A-Za-z_][\w:]*(?:<[^;{}\n]*>)?\s*(?:final\s*)?(?::[^:]|\{))"
)
_WRAPPED = re.compile(rb"\b([A-Za-z_]\w*[ \t]+)([A-Z_][A-Z0-9_]*)[ \t]*\((\([^;{}]*?\))\)(?=\s*;)")
_TRAILING = re.compile(rb"(\)[ \t]*\n?[ \t]*)([A-Z_][A-Z0-9_]{3,}(?:\([^()\n]*\))?)(?=\s*[;{]\s*\n)")
_ANNOTATION = re.compile(rb"(\b[A-Za-z_]\w*|[)\]])([ \t]+)([A-Z][A-Z_]{3,}\([^()\n]*\))(?=\s*[;{=])")
_BEFORE_STAR = re.compile(rb"(\b[A-Za-z_]\w*[ \t]+)([A-Z][A-Z0-9_]+)(?=[ \t]*\*)")
_THREE_WORDS = re.compile(
    rb"^([A-Za-z_]\w*)(?=[ \t]+(?P<next>[A-Za-z_]\w*)[ \t*&]+[A-Za-z_]\w*[ \t]*[(\[;=])", re.MULTILINE
)
_OWN_LINE = re.compile(
    rb"^([A-Za-z_]\w*(?:[ \t]+[A-Za-z_]\w*)+)(?=[ \t]*\n[A-Za-z_][\w ]*[ \t*&]+[A-Za-z_]\w*[ \t]*\()", re.MULTILINE
)
_VA_ARG = re.compile(rb"\bva_arg\s*\(([^,()\n]+)(,[^()\n]*)\)")
_EMPTY_MACRO = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]*(?:(?:static|inline|extern|const|__inline\w*|__attribute__[^\n]*|__declspec[^\n]*|FAR)[ \t]*)*(?:/[*/][^\n]*)?$",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[^\n]*(?:\\\n[^\n]*)*", re.MULTILINE)
_QUIET = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_KEYWORDS = frozenset(
    b"auto break case catch class const constexpr const_cast continue co_await co_return co_yield default delete do double "
    b"dynamic_cast else enum explicit export extern final float for friend goto if inline int long mutable namespace new "
    b"noexcept operator private protected public register restrict return short signed sizeof static static_assert struct switch template this "
    b"thread_local throw try typedef typeid typename union unsigned using virtual void volatile while bool char _Noreturn "
    b"__extension__ __inline __inline__ _Thread_local __restrict __attribute__ __declspec alignas decltype concept requires not and or".split()
)


_AFTER = frozenset({b"const", b"override", b"final", b"noexcept"})


def mend(content: bytes) -> bytes:
    """The bytes for the parser; as long as `content`, line ends in their places."""
    text = _RAW_STRING.sub(_plain_raw_string, content) if b'R"' in content else content
    text = _without_own_macros(text)
    text = _BEFORE_STAR.sub(lambda m: m[1] + _spaces(m[2]) if _is_type(m[1]) else m[0], text)
    text = _OWN_LINE.sub(lambda m: m[0] if _KEYWORDS & set(m[1].split()) else _spaces(m[0]), text)
    text = _VA_ARG.sub(lambda m: m[0][: m.start(2) - m.start()] + _spaces(m[2]) + b")", text)
    text = _STANDALONE.sub(lambda m: _spaces(m[0]), text)
    text = _LEADING.sub(lambda m: m[1] + _spaces(m[2]), text)
    text = _BEFORE_TYPE.sub(_blank_unless_keyword, text)
    text = _CLASS_MACRO.sub(lambda m: m[1] + _spaces(m[0][len(m[1]) :]), text)
    text = _BEFORE_NAME.sub(lambda m: m["head"] + _spaces(m["macro"]) if _is_type(m["head"]) else m[0], text)
    text = _THREE_WORDS.sub(lambda m: m[0] if {m[1], m["next"]} & _KEYWORDS else _spaces(m[1]), text)
    text = _WRAPPED.sub(_unwrap, text)
    text = _ANNOTATION.sub(lambda m: m[0] if m[1] in _KEYWORDS - _AFTER else m[1] + _spaces(m[2] + m[3]), text)
    return _TRAILING.sub(lambda m: m[1] + _spaces(m[2]), text)


def _without_own_macros(text: bytes) -> bytes:
    """Blanks the uses of macros that the file itself defines as nothing, or as words that say nothing of calls."""
    names = {
        match[1] for match in _EMPTY_MACRO.finditer(text) if not match[1].endswith((b"_H", b"_H_", b"_H__", b"_HPP"))
    }
    if not names:
        return text
    pattern = re.compile(rb"^([ \t]*#[^\n]*)|\b(?:" + b"|".join(sorted(map(re.escape, names))) + rb")\b", re.MULTILINE)
    return pattern.sub(lambda m: m[0] if m[1] is not None else _spaces(m[0]), text)


def _spaces(text: bytes) -> bytes:
    return bytes(byte if byte in b"\n\r" else 0x20 for byte in text)


def _plain_raw_string(match: re.Match[bytes]) -> bytes:
    """The grammar bounds the delimiter's length, and need not know it: the content is blanked, the frame is the plain one."""
    return b'R"(' + _spaces(match[0][3:-2]) + b')"'


def _blank_unless_keyword(match: re.Match[bytes]) -> bytes:
    return match[0] if match[2].partition(b"(")[0] in _KEYWORDS else match[1] + _spaces(match[2])


def _is_type(head: bytes) -> bool:
    words = head.replace(b"*", b" ").replace(b"&", b" ").split()
    return bool(words) and words[-1] not in (
        _KEYWORDS - {b"int", b"void", b"char", b"long", b"double", b"float", b"bool", b"unsigned", b"short"}
    )


def _unwrap(match: re.Match[bytes]) -> bytes:
    if match[1].strip() in _KEYWORDS:
        return match[0]
    return match[1] + _spaces(match[0][len(match[1]) : -len(match[3]) - 1]) + match[3] + b" "


def quiet(content: bytes) -> bytes:
    """The text with strings and comments blanked."""
    return _QUIET.sub(lambda m: _spaces(m[0]), content)


MAX_BRANCHES = 20_000
"""Bytes of a conditional with alternatives that is reduced to its first branch because something in it does not parse."""


def straighten(content: bytes, damaged: tuple[int, ...] = ()) -> bytes:
    """Of each conditional with a branch that opens more brackets than it closes, or, where places are damaged, with one of them
    in or beside it, keeps the first branch and drops the lines of the preprocessor."""
    seen = quiet(content)
    out = bytearray(content)
    stack: list[list[tuple[int, int]]] = []
    for match in _DIRECTIVE.finditer(seen):
        word = match[1]
        if word.startswith(b"if"):
            stack.append([match.span()])
        elif stack:
            stack[-1].append(match.span())
            if word == b"endif":
                marks = stack.pop()
                start, end = marks[0][0], marks[-1][1]
                near = end - start <= MAX_BRANCHES and any(start - 2 <= at <= end + 2 for at in damaged)
                touched = bool(damaged) and (len(marks) == 2 or near)
                if touched or not _balanced(seen, marks):
                    _keep_first(out, marks)
    return bytes(out)


def _balanced(seen: bytes, marks: list[tuple[int, int]]) -> bool:
    branches = [seen[marks[at][1] : marks[at + 1][0]] for at in range(len(marks) - 1)]
    return all(part.count(b"{") == part.count(b"}") and part.count(b"(") == part.count(b")") for part in branches)


def _keep_first(out: bytearray, marks: list[tuple[int, int]]) -> None:
    for start, end in (*marks, *((marks[at][1], marks[at + 1][0]) for at in range(1, len(marks) - 1))):
        out[start:end] = _spaces(bytes(out[start:end]))
