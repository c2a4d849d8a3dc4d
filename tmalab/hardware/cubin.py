"""What a compiled kernel holds, read from its ELF file: how many machine instructions.

    .text.<kernel>, 16 bytes an instruction on sm_90; the padding after the last one (NOP, BRA to itself) is not counted

>>> sass_instructions(b"not an ELF file", "transfer") is None
True
"""

from __future__ import annotations

import struct

_INSTRUCTION_BYTES = 16
# The low 12 bits of a Hopper instruction are its opcode: those of `NOP` and of `BRA`, as nvdisasm names them.
_NOP, _BRA = 0x918, 0x947


def section(cubin: bytes, name: str) -> bytes | None:
    """The bytes of one section of a 64-bit ELF file, None if there is no such section."""
    if cubin[:5] != b"\x7fELF\x02":
        return None
    offset = struct.unpack_from("<Q", cubin, 0x28)[0]
    entry_bytes, count, names_at = struct.unpack_from("<3H", cubin, 0x3A)
    # sh_name u32, sh_type u32, sh_flags u64, sh_addr u64, sh_offset u64, sh_size u64 …
    headers = [struct.unpack_from("<2I4Q", cubin, offset + i * entry_bytes) for i in range(count)]
    names = headers[names_at]
    for header in headers:
        start = names[4] + header[0]
        if cubin[start : cubin.index(b"\0", start)].decode() == name:
            return cubin[header[4] : header[4] + header[5]]
    return None


def opcodes(cubin: bytes, kernel: str) -> list[int] | None:
    """The opcode of each instruction of the kernel's code, its padding included; None if it is not in there."""
    text = section(cubin, f".text.{kernel}")
    if text is None:
        return None
    return [int.from_bytes(text[at : at + 2], "little") & 0xFFF for at in range(0, len(text), _INSTRUCTION_BYTES)]


def sass_instructions(cubin: bytes, kernel: str) -> int | None:
    """How many instructions the kernel's code has, without the padding at its end; None if it is not in there."""
    found = opcodes(cubin, kernel)
    if found is None:
        return None
    while found and found[-1] == _NOP:
        found.pop()
    if found and found[-1] == _BRA:
        found.pop()
    return len(found)
