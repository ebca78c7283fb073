"""The functions of a native program: where each begins, and which line of the checkout it comes from.

Read from the symbol table and the line table (ELF, DWARF 2 to 5) in Python: a file that a box has made is read by nothing that
can be made to write past its memory. A symbol without a line in the checkout is no function of the checkout.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from msgspec import Struct

from smp.domain.traces import CallObservation, Frame

_CHECKOUT = "/work/"
_MACHINE = "EM_X86_64"
_WORD = (1 << 64) - 1
# Lambdas of C++ (Itanium mangling), closures of Rust (both manglings), function literals of Go.
_UNNAMED = re.compile(r"UlvE|Ul.*E\d*_|\{\{closure\}\}|\$u7b\$\$u7b\$closure|\.func\d+")


class NativeFunction(Struct, frozen=True, kw_only=True):
    """address, size: As in the symbol table. offset: in the file, where a probe sits."""

    address: int
    size: int
    offset: int
    frame: Frame


class Program(Struct, frozen=True, kw_only=True):
    """A program's functions of the checkout, by address."""

    path: str
    functions: tuple[NativeFunction, ...]

    def at(self, address: int) -> NativeFunction | None:
        """The function that an address lies in; None when it is none of the checkout."""
        number = bisect_right(self.functions, address, key=lambda function: function.address) - 1
        found = self.functions[number] if number >= 0 else None
        return found if found is not None and address < found.address + found.size else None


def read_program(path: str, limit: int) -> Program | None:
    """None for what is no x86-64 program with symbols and lines.

    Args:
        limit: Functions that are kept at most, lowest addresses first.
    """
    try:
        with open(path, "rb") as file:
            return _read(path, file, limit)
    except (OSError, ELFError, DWARFError, ConstructError, ValueError, KeyError, IndexError, AttributeError, TypeError):
        return None  # no ELF file, a cut one, or one that lies about itself


def _read(path: str, file: BinaryIO, limit: int) -> Program | None:
    elf = ELFFile(file)
    table = elf.get_section_by_name(".symtab")
    if elf["e_machine"] != _MACHINE or not isinstance(table, SymbolTableSection) or not elf.has_dwarf_info():
        return None
    symbols = {
        symbol["st_value"]: symbol
        for symbol in table.iter_symbols()
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"] and symbol["st_value"]
    }
    functions = []
    lines = dict(_lines(elf.get_dwarf_info(), frozenset(symbols)))
    for address in sorted(lines)[:limit]:
        offset = next(iter(elf.address_offsets(address)), None)
        if offset is None:
            continue
        place, line = lines[address]
        name = "<anonymous>" if _UNNAMED.search(symbols[address].name) else ""
        frame = Frame(file=place, qualname=f"?.{name}", first_line=line)
        size = symbols[address]["st_size"]
        functions.append(NativeFunction(address=address, size=size, offset=offset, frame=frame))
    return Program(path=path, functions=tuple(functions)) if functions else None


def _lines(dwarf: DWARFInfo, addresses: frozenset[int]) -> Iterator[tuple[int, tuple[str, int]]]:
    """Path in the checkout and line, for those addresses that begin a row of the line table."""
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        files = _files(program.header, unit.get_top_DIE())
        if not any(files.values()):
            continue
        for entry in program.get_entries():
            state = entry.state
            if state is not None and not state.end_sequence and state.address in addresses and files.get(state.file):
                yield state.address, (files[state.file], state.line)


def _files(header: Any, top: Any) -> dict[int, str]:
    """Paths in the checkout by number; empty for files from elsewhere."""
    folder = top.attributes["DW_AT_comp_dir"].value.decode() if "DW_AT_comp_dir" in top.attributes else ""
    modern = header["version"] >= 5
    folders = [name.decode() for name in header["include_directory"]]
    if not modern:
        folders.insert(0, folder)
    found = {}
    for number, entry in enumerate(header["file_entry"], 0 if modern else 1):
        above = folders[entry.dir_index] if entry.dir_index < len(folders) else ""
        full = posixpath.normpath(posixpath.join(folder, above, entry.name.decode()))
        found[number] = full.removeprefix(_CHECKOUT) if full.startswith(_CHECKOUT) else ""
    return found


def native_calls(
    seen: list[tuple[int, int, int]], probed: dict[int, tuple[Program, NativeFunction]]
) -> list[CallObservation]:
    """Calls between functions of the checkout.

    Args:
        seen: Number of the function, distance from its beginning to the return address, how often.
        probed: Functions by their numbers.
    """
    counts: Counter[tuple[Frame, Frame]] = Counter()
    for number, distance, count in seen:
        program, callee = probed[number]
        # What comes behind the call is the next instruction; of a call that does not return it may be another function's.
        caller = program.at((callee.address + distance - 1) & _WORD)
        if caller is not None:
            counts[caller.frame, callee.frame] += count
    return [CallObservation(caller=ends[0], callee=ends[1], count=count) for ends, count in counts.items()]
