"""The lines of programs/tirx_add_one.py beside what they became: TIRx, the CUDA C of it, the PTX of that.

    T.cuda.cta_sync()      tvm_builtin_cuda_cta_sync();      bar.sync 0;

>>> doing(["mov.u32 %r3, 1;", "mbarrier.init.shared.b64 [%r4], %r3;"])
['mbarrier.init.shared.b64 [%], %;']

Registers and the reckoning of addresses differ from one NVRTC to another; what is left is the same from 13.0 to 13.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

HEAD = ("TIRx", "CUDA C", "PTX")
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
    return [name if count == 1 else f"{name} ({count} times)" for name, count in counts.items()]


@dataclass(frozen=True)
class LineTable:
    """A statement a row; as text each with what it became under it, as HTML beside it."""

    rows: Sequence[Mapping[str, object]]

    def cells(self) -> Iterator[tuple[str, str, list[str]]]:
        """Of each statement: its own text, its line of CUDA C, its instructions."""
        for row in self.rows:
            written = str(row["tirx"]).replace("( ", "(").replace(", )", ")")
            yield written, str(row["cuda"]), doing(row["ptx"])  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return "\n".join(
            "\n".join([tirx, f"    {cuda}", *(f"        {line}" for line in ptx)]) for tirx, cuda, ptx in self.cells()
        )

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
        body = "\n".join(
            f'<tr><th scope="row">{_code([tirx])}</th><td>{_code([cuda])}</td><td>{_code(ptx)}</td></tr>'
            for tirx, cuda, ptx in self.cells()
        )
        table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
        return f'<div class="tma tma-lines">{table}</div>'


def _code(lines: Iterable[str]) -> str:
    return "".join(f"<code>{escape(line)}</code>" for line in lines)
