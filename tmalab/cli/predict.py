"""`tmalab predict`: where one load puts each 16 bytes of its box in shared memory, printed or drawn.

      byte      0   16   32   48   64   80   96  112
         0    0.0  0.1  0.2  0.3  0.4  0.5  0.6  0.7        row.chunk of the box
       128    1.1  1.0  1.3  1.2  1.5  1.4  1.7  1.6

>>> from tmalab.cli import main
>>> main(["predict", "Sw<3,4,3> o 0 o (8,64):(64,1)", "--dtype", "float16", "--lines", "2"])
tiled float16: box_dim [64, 8], swizzle 128B, at byte 0 of shared memory
8 rows of 128 bytes, 128 bytes apart; a cell is row.chunk, 16 bytes; · is not written
     byte      0   16   32   48   64   80   96  112
        0    0.0  0.1  0.2  0.3  0.4  0.5  0.6  0.7
      128    1.1  1.0  1.3  1.2  1.5  1.4  1.7  1.6
… 6 more lines (--all)
0

Exit codes: 0 predicted, 1 the descriptor is illegal, 2 the input cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from tmalab.checker.answer import SCHEMA, Answer
from tmalab.checker.check import answer_reading
from tmalab.checker.descriptor import number
from tmalab.checker.shared_map import SharedMap, shared_map
from tmalab.cli import check, report
from tmalab.errors import InputError
from tmalab.inputs.detect import read_text
from tmalab.inputs.position import UnreadableError
from tmalab.model.swizzle import CHUNK_BYTES, LINE_BYTES
from tmalab.model.tensor_map import TensorMap

SUMMARY = "print or draw where one load puts each 16 bytes of its box"
_LINES = 32
# A drawing of more lines is a megabyte that nobody reads.
_MOST_DRAWN = 512
_PER_LINE = LINE_BYTES // CHUNK_BYTES


def add_parser(subparsers: Any) -> None:
    """Add `predict` to the command line."""
    parser = subparsers.add_parser("predict", help=SUMMARY, description=SUMMARY)
    check.add_input(parser)
    group = parser.add_argument_group("answer")
    group.add_argument("--lines", type=int, default=_LINES, metavar="N", help=f"print N lines of 128 bytes ({_LINES})")
    group.add_argument("--all", action="store_true", help="print every line")
    group.add_argument("--json", action="store_true", help="the map as JSON")
    group.add_argument("--svg", metavar="FILE", help="draw the map into an SVG file")
    group.add_argument("--png", metavar="FILE", help="draw the map into a PNG file (needs matplotlib)")


def run(arguments: argparse.Namespace) -> int:
    """Print or draw, and return the exit code."""
    text, options = check.question(arguments)
    readings = list(islice(read_text(text, form=options.form, keep_unknown=options.keep_unknown), 2))
    if isinstance(readings[0], UnreadableError):
        raise readings[0]
    if arguments.lines < 1:
        raise InputError(
            "no line to print", field="lines", value=arguments.lines, limit=1, fix="give 1 or more, or --all"
        )
    if len(readings) > 1:
        raise InputError("several descriptors", field="input", value=arguments.input, fix="predict one at a time")
    answer = answer_reading(readings[0], options)
    if answer.exit_code:
        print(f"tmalab predict: {report.plain(answer)}", file=sys.stderr)
        return answer.exit_code
    tm = _map_of(answer)
    said = {"smem_base": 0, **options.facts, **answer.facts, **readings[0].fields}
    base = number("smem_base", said["smem_base"])
    made = shared_map(tm, base)
    drawn = [(arguments.svg, _svg), (arguments.png, _png)]
    for name, draw in drawn:
        if name is not None:
            draw(made, _title(tm, base), name)
            print(f"{name}: {len(made.lines)} lines")
    if arguments.json:
        print(json.dumps({"schema": SCHEMA, "tensor_map": tm.to_dict(), "smem_base": base, **_as_json(made)}))
    elif not any(name for name, _ in drawn):
        print(_title(tm, base))
        print(grid(made, len(made.lines) if arguments.all else arguments.lines))
    return 0


def _map_of(answer: Answer) -> TensorMap:
    """The map that was checked, or one whose box writes the CuTe layout that was matched."""
    if answer.tensor_map is not None:
        return answer.tensor_map
    facts = answer.facts
    if "box_dim" not in facts:
        raise InputError(
            "no box is said", field="input", value=answer.kind, fix="give a tensor map, or an array and --box"
        )
    box, dtype = facts["box_dim"], {1: "uint8", 2: "float16", 4: "float32", 8: "float64"}[facts["element_bytes"]]
    strides = [1 << (20 + dim) for dim in range(len(box) - 1)]
    return TensorMap.tiled(dtype, box, strides, box, swizzle=facts["swizzle"])


def _title(tm: TensorMap, base: int) -> str:
    box = f"box_dim {list(tm.box_dim)}"
    if tm.kind == "im2col":
        box = f"{tm.pixels_per_column} pixels of {tm.channels_per_pixel} channels"
    interleave = "" if tm.interleave == "none" else f", interleave {tm.interleave}"
    return f"{tm.kind} {tm.dtype}: {box}{interleave}, swizzle {tm.swizzle}, at byte {base} of shared memory"


def grid(made: SharedMap, most: int) -> str:
    """The map as text, its first `most` lines."""
    cells = [[f"{at[0]}.{at[1]}" if at else "·" for at in line.chunks] for line in made.lines[:most]]
    width = max(4, *(len(cell) for row in cells for cell in row))
    head = "".join(f" {at:>{width}}" for at in range(0, LINE_BYTES, CHUNK_BYTES))
    lines = [
        f"{made.rows} rows of {made.row_bytes} bytes, {made.row_pitch_bytes} bytes apart; a cell is row.chunk, "
        "16 bytes; · is not written",
        f"{'byte':>9}  {head}",
    ]
    for line, row in zip(made.lines, cells, strict=False):
        lines.append(f"{line.byte:>9}  " + "".join(f" {cell:>{width}}" for cell in row))
    if len(made.lines) > most:
        lines.append(f"… {len(made.lines) - most} more lines (--all)")
    return "\n".join(lines)


def _as_json(made: SharedMap) -> dict[str, Any]:
    lines = [{"byte": line.byte, "chunks": line.chunks} for line in made.lines]
    return {"rows": made.rows, "row_bytes": made.row_bytes, "row_pitch_bytes": made.row_pitch_bytes, "lines": lines}


def _svg(made: SharedMap, title: str, name: str) -> None:
    from tmalab.figures.palette import tint
    from tmalab.figures.still import Still

    lines = made.lines[:_MOST_DRAWN]
    wide, high, left, top = 56, 24, 72, 52
    still = Still(left + wide * _PER_LINE + 8, top + high * len(lines) + 8, title)
    still.head(8, 18, title)
    for at in range(_PER_LINE):
        still.text(left + wide * (at + 0.5), top - 12, str(at * CHUNK_BYTES), "soft")
    for index, line in enumerate(lines):
        y = top + high * index
        still.text(left / 2, y + high / 2, str(line.byte), "soft")
        for at, chunk in enumerate(line.chunks):
            box = (left + wide * at + 1, y + 1, wide - 2, high - 2)
            if chunk is None:
                still.cell(*box, line="line")
            else:
                still.cell(*box, fill=tint(chunk[1]))
                still.text(box[0] + box[2] / 2, y + high / 2, f"{chunk[0]}.{chunk[1]}")
    _write(name, still.svg().encode())


def _png(made: SharedMap, title: str, name: str) -> None:
    from tmalab.figures.palette import ON_TINT, tint

    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle
    except ImportError:
        fix = "pip install tmalab[figures], or use --svg"
        raise InputError("matplotlib is not installed", field="png", value=name, fix=fix) from None
    lines = made.lines[:_MOST_DRAWN]
    figure = Figure(figsize=(8, 1 + 0.28 * len(lines)))
    axes = figure.add_axes((0.08, 0.02, 0.9, 0.9))
    for index, line in enumerate(lines):
        for at, chunk in enumerate(line.chunks):
            fill = "none" if chunk is None else tint(chunk[1])
            axes.add_patch(Rectangle((at + 0.02, index + 0.02), 0.96, 0.96, facecolor=fill, edgecolor="#d0d7de"))
            if chunk is not None:
                axes.text(at + 0.5, index + 0.5, f"{chunk[0]}.{chunk[1]}", color=ON_TINT, ha="center", va="center")
    axes.set(xlim=(0, _PER_LINE), ylim=(len(lines), 0), title=title)
    axes.set_xticks([at + 0.5 for at in range(_PER_LINE)], [str(at * CHUNK_BYTES) for at in range(_PER_LINE)])
    axes.set_yticks([index + 0.5 for index in range(len(lines))], [str(line.byte) for line in lines])
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    from io import BytesIO

    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=100, bbox_inches="tight")
    _write(name, drawn.getvalue())


def _write(name: str, data: bytes) -> None:
    try:
        Path(name).write_bytes(data)
    except OSError as error:
        fix = "name a file in a folder that is there and can be written"
        raise InputError(f"cannot be written: {error.strerror}", field="file", value=name, fix=fix) from None
