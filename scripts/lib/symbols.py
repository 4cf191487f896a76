"""Prints what a shared library asks of others and what it offers, as JSON: ELF, Mach-O and PE in the same words.

`of` is the version that ELF asks for, or the library that has to have the name; null where neither is told."""

import json
import sys

import lief


def elf(library):
    asked = []
    # `imported_symbols` omits symbols of unknown type, as of a library that is not linked.
    for symbol in library.dynamic_symbols:
        weak = symbol.binding == lief.ELF.Symbol.BINDING.WEAK
        if symbol.shndx != 0 or weak or not symbol.name:
            continue
        version = symbol.symbol_version and symbol.symbol_version.symbol_version_auxiliary
        asked.append((symbol.name, version.name if version else None))
    return asked, [symbol.name for symbol in library.exported_symbols]


def macho(library):
    libraries = {i: each.name for i, each in enumerate(library.libraries)}
    asked = []
    for symbol in library.imported_symbols:
        named = symbol.library_ordinal
        asked.append((symbol.name.removeprefix('_'), libraries.get(named) if named > 0 else None))
    return asked, [symbol.name.removeprefix('_') for symbol in library.exported_symbols]


def pe(library):
    asked = [(entry.name, each.name) for each in library.imports for entry in each.entries]
    # Imports from node.exe are Node-API and libuv only.
    asked = [(name, None if of == 'node.exe' else of) for name, of in asked]
    return asked, [entry.name for entry in library.exported_functions]


# lief logs a remark about each library of macOS.
lief.logging.disable()
library = lief.parse(sys.argv[1])
if isinstance(library, lief.MachO.FatBinary):
    library = library.at(0)
read = {lief.ELF.Binary: elf, lief.MachO.Binary: macho, lief.PE.Binary: pe}[type(library)]
asked, offered = read(library)
print(json.dumps({'asked': [{'name': name, 'of': of} for name, of in asked], 'offered': offered}))
