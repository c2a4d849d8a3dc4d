"""What a front end asks of the driver while it runs: maps that it has encoded, parameters that it launches with.

    libcuda: cuTensorMapEncodeTiled ─┐ its first bytes become a jump ┌─▶ note arguments, call it, note the answer
             cuLaunchKernel[Ex] ─────┘                               └─▶ note every parameter's bytes

The jump stands in the driver's own code, so that it does not matter through which library, in which language or by
which table of pointers a front end reaches it. A front end that writes its maps itself encodes none, and is seen
when it launches. Linux on x86-64; one thread at a time. Only for a process that is there to be looked at.
"""

from __future__ import annotations

import ctypes as c
import mmap
import platform
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tmalab.errors import HardwareError, InputError
from tmalab.model.encoded_map import ENCODED_BYTES, decode

_JUMP = b"\x49\xbb%s\x41\xff\xe3"  # mov r11, address; jmp r11
_U32, _U64, _POINTER = c.c_uint, c.c_uint64, c.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuTensorMapEncodeTiled": (
        _POINTER, c.c_int, _U32, _POINTER, c.POINTER(_U64), c.POINTER(_U64), c.POINTER(_U32), c.POINTER(_U32),
        c.c_int, c.c_int, c.c_int, c.c_int,
    ),
    "cuLaunchKernel": (_POINTER, *[_U32] * 7, _POINTER, c.POINTER(_POINTER), _POINTER),
    "cuLaunchKernelEx": (_POINTER, _POINTER, c.POINTER(_POINTER), _POINTER),
}  # fmt: skip
_MOST_PARAMETERS = 256


@dataclass
class Watch:
    """What was seen. An encode call is a dict of its arguments, its `answer` and its `bytes`; a launch is a list of
    its parameters' bytes. `missed` holds what went wrong inside the watch itself."""

    encoded: list[dict[str, Any]] = field(default_factory=list)
    launched: list[list[bytes]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def descriptors(self) -> list[bytes]:
        """The tensor maps among the parameters of all launches, in order, each once."""
        found = (part for launch in self.launched for parameter in launch for part in maps_in(parameter))
        return list(dict.fromkeys(found))


def maps_in(parameter: bytes) -> Iterator[bytes]:
    """The tensor maps that stand in a parameter, alone or inside a structure: 64-byte aligned, legal, with an address.

    >>> list(maps_in(bytes(8)))
    []
    """
    for start in range(0, len(parameter) - ENCODED_BYTES + 1, 64):
        part = parameter[start : start + ENCODED_BYTES]
        with suppress(InputError):
            tm = decode(part)
            if tm.address and not tm.violations():
                yield part


@contextmanager
def watch_driver() -> Iterator[Watch]:
    """Watch the driver inside the `with`. Raises HardwareError where there is no driver or another processor."""
    if platform.machine() != "x86_64":
        raise HardwareError("calls are watched on x86-64 alone", field="machine", value=platform.machine())
    try:
        driver = c.CDLL("libcuda.so.1")
    except OSError as error:
        raise HardwareError(f"there is no driver to watch: {error}", fix="run on a machine with a GPU") from error
    watch = Watch()
    notes = {
        "cuTensorMapEncodeTiled": lambda answer, *given: watch.encoded.append(_encode_call(answer, given)),
        "cuLaunchKernel": lambda _, *given: watch.launched.append(_parameters(driver, given[0], given[9])),
        "cuLaunchKernelEx": lambda _, *given: watch.launched.append(_parameters(driver, given[1], given[2])),
    }
    with ExitStack() as stack:
        for name, note in notes.items():
            inside: list[int] = []  # one list for all entries of a function: one may lead to another
            for address in sorted(_addresses(driver, name)):
                stack.enter_context(watch_call(address, _SIGNATURES[name], note, watch.missed, inside))
        yield watch


@contextmanager
def watch_call(
    address: int, arguments: tuple[Any, ...], note: Callable[..., object], missed: list[str], inside: list[int]
) -> Iterator[None]:
    """In the `with`, call `note(answer, *arguments)` after each call of the C function at `address` from outside."""
    prototype = c.CFUNCTYPE(c.c_int, *arguments)
    original = prototype(address)

    def stand_in(*given: Any) -> int:
        c.memmove(address, first_bytes, len(jump))
        inside.append(address)
        answer = int(original(*given))
        inside.pop()
        c.memmove(address, jump, len(jump))
        try:
            if not inside:
                note(answer, *given)
        except Exception as error:  # nothing may be raised into the driver's caller
            missed.append(f"{type(error).__name__}: {error}")
        return answer

    callback = prototype(stand_in)
    jump = _JUMP % c.cast(callback, _POINTER).value.to_bytes(8, "little")  # type: ignore[union-attr]
    first_bytes = c.string_at(address, len(jump))
    page = address & -mmap.PAGESIZE
    if c.CDLL(None).mprotect(_POINTER(page), c.c_size_t(address + len(jump) - page), 7) != 0:
        raise HardwareError("the code cannot be written", field="address", value=hex(address))
    c.memmove(address, jump, len(jump))
    try:
        yield
    finally:
        c.memmove(address, first_bytes, len(jump))


def _addresses(driver: c.CDLL, name: str) -> set[int]:
    """Where a function begins: what the library exports and what cuGetProcAddress hands out, for both stream modes."""
    found = set()
    for exported in (name, f"{name}_ptsz"):
        with suppress(AttributeError):
            found.add(c.cast(getattr(driver, exported), _POINTER).value or 0)
    for flags in (0, 1, 2):  # default, legacy stream, per-thread stream
        at = _POINTER()
        if driver.cuGetProcAddress_v2(name.encode(), c.byref(at), 13000, _U64(flags), None) == 0:
            found.add(at.value or 0)
    return found - {0}


def _encode_call(answer: int, given: tuple[Any, ...]) -> dict[str, Any]:
    into, dtype, rank, address, dims, strides, box, steps, interleave, swizzle, promotion, fill = given
    listed = min(rank, 5)
    return {
        "dtype": dtype, "rank": rank, "address": address, "global_dim": dims[:listed],
        "global_strides": strides[: listed - 1], "box_dim": box[:listed], "element_strides": steps[:listed],
        "interleave": interleave, "swizzle": swizzle, "l2_promotion": promotion, "oob_fill": fill,
        "answer": answer, "bytes": c.string_at(into, ENCODED_BYTES) if answer == 0 else b"",
    }  # fmt: skip


def _parameters(driver: c.CDLL, function: int, parameters: Any) -> list[bytes]:
    """The bytes of each parameter; a handle is a CUfunction's or, from a library, a CUkernel's."""
    ask, offset, size = driver.cuFuncGetParamInfo, c.c_size_t(), c.c_size_t()
    if ask(_POINTER(function), c.c_size_t(0), c.byref(offset), c.byref(size)) != 0:
        ask = driver.cuKernelGetParamInfo
    found: list[bytes] = []
    for index in range(_MOST_PARAMETERS):
        if not parameters or ask(_POINTER(function), c.c_size_t(index), c.byref(offset), c.byref(size)) != 0:
            break
        found.append(c.string_at(parameters[index], size.value))
    return found
