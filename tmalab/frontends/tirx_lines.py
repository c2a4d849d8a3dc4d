"""The lines of programs/tirx_add_one.py beside what they became: TIRx, the CUDA C of it, the PTX of that.

    T.cuda.cta_sync()
        tvm_builtin_cuda_cta_sync();
            bar.sync 0;

>>> doing(["mov.u32 %r3, 1;", "mbarrier.init.shared.b64 [%r4], %r3;"])
['mbarrier.init.shared.b64 [%], %;']

Registers and the reckoning of addresses differ from one NVRTC to another; what is left is the same from 13.0 to 13.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

_ADDRESSES = ("mov.", "cvt", "shl.", "mul.wide", "add.s", "mul.lo", "mad.")
_LABEL = re.compile(r"^[A-Z_]+:$|bra\.uni")


def unnumbered(line: str) -> str:
    """A line of PTX without the numbers of its registers and labels."""
    return re.sub(r"\$L__BB\d+_\d+", "$L", re.sub(r"%(?!tid)\w+", "%", line))


def doing(ptx: Iterable[str]) -> list[str]:
    """The instructions that do something, unnumbered; one that comes again is counted, wherever it stands."""
    counts: dict[str, int] = {}
    for line in ptx:
        if not line.startswith(_ADDRESSES) and not _LABEL.search(line):
            name = re.sub(r"\[%\+\d+\]", "[%]", unnumbered(line))
            counts[name] = counts.get(name, 0) + 1
    return [name if count == 1 else f"{name}    {count} times" for name, count in counts.items()]


def blocks(rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Each statement with what it became under it, a step further in."""
    for row in rows:
        yield str(row["tirx"])
        yield f"    {row['cuda']}"
        for line in doing(row["ptx"]):  # type: ignore[arg-type]
            yield f"        {line}"
