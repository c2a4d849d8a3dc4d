"""`tmalab banks`: what an access to shared memory costs a warp: its banks, its wavefronts, and what would free it.

    tmalab banks column --swizzle 128B       one of the usual accesses to a tile, 32 rows of 128 bytes unless said
    tmalab banks '4*((lane*32)^(lane&31))'   the address of each lane, as an expression; a row and a vector with a comma
    tmalab banks --addresses 0,128,256       the addresses themselves; - reads them from the input

>>> from tmalab.cli import main
>>> main(["banks", "column", "--swizzle", "128B", "--width", "16", "--no-chart"])  # doctest: +ELLIPSIS
no conflict: 4 wavefronts, 4 at the least; 4 cycles an access
...
wavefront  lanes  words                                        banks
        1  0-7    0-3 36-39 72-75 108-111 144-147 180-183 …    0-31
...
Free as it is: no bank has two words to deliver at once.
0

Exit codes: 0 no conflict, 1 a conflict, 2 what was asked cannot be read, or no warp can do it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import Any

from tmalab.checker.cost import SCHEMA, cost_answer
from tmalab.errors import InputError
from tmalab.model.banks import OPS, warp_access
from tmalab.model.element_types import element_type
from tmalab.model.expression_tree import ExpressionError
from tmalab.model.matrix_access import MATRIX_OPS, matrix_access
from tmalab.model.tile_cost import MATRIX_ACCESSES, MATRIX_BYTES, SWIZZLES, TILE_ACCESSES
from tmalab.model.wavefronts import NUM_BANKS, WarpAccess

SUMMARY = "say what an access to shared memory costs a warp, bank by bank, and what would free it"
_TILE = {"rows": 32, "row_bytes": 128, "swizzle": "none", "padding": 0, "base": 0}
_LINES = 8  # of the table of wavefronts
_HIGH = 4  # lines of the chart
_MOST_READ = 100_000  # characters of a list of addresses
_WIDEST = 44  # of a column of the table


def add_parser(subparsers: Any) -> None:
    """Add `banks` to the command line."""
    parser = subparsers.add_parser("banks", help=SUMMARY, description=SUMMARY)
    parser.add_argument(
        "access",
        nargs="?",
        help=f"{', '.join(TILE_ACCESSES)}; or an expression of lane, row, col, rows, cols, pitch, bytes "
        "(after -- where it begins with -)",
    )
    parser.add_argument(
        "--addresses", metavar="LIST", help="byte addresses instead, lane 0 first; x for a lane that is off"
    )
    tile = parser.add_argument_group("tile")
    tile.add_argument("--dtype", help="type of its elements; a lane moves one unless --width says otherwise (float32)")
    tile.add_argument("--rows", type=int, metavar="N", help=f"rows ({_TILE['rows']})")
    tile.add_argument("--row-bytes", type=int, metavar="N", help=f"bytes in a row ({_TILE['row_bytes']})")
    tile.add_argument("--swizzle", choices=SWIZZLES, help="the engine's swizzle (none)")
    tile.add_argument("--padding", type=int, metavar="N", help="bytes after each row (0)")
    tile.add_argument("--base", type=int, metavar="N", help="shared address of its first byte (0)")
    group = parser.add_argument_group("access and answer")
    group.add_argument("--width", type=int, metavar="N", help="bytes that a lane moves: 1, 2, 4, 8 or 16")
    group.add_argument(
        "--op", default="load", choices=(*OPS, *MATRIX_OPS), metavar="OP", help="load, store, ldmatrix_x4 …"
    )
    group.add_argument("--all", action="store_true", help="every wavefront in the table")
    group.add_argument("--no-chart", action="store_true", help="no chart of the banks")
    group.add_argument("--json", action="store_true", help="the answer as JSON")
    parser.set_defaults(usage=parser.format_usage)


def run(arguments: argparse.Namespace) -> int:
    """Print the price, and return the exit code."""
    if (arguments.access is None) == (arguments.addresses is None):
        print(f"{arguments.usage()}tmalab banks: give an access, an expression, or --addresses", file=sys.stderr)
        return 2
    try:
        answer = _listed(arguments) if arguments.access is None else _of_a_tile(arguments)
    except ExpressionError as error:
        print(f"{error.pointed()}\ntmalab banks: {error}", file=sys.stderr)
        return 2
    measured = _measured(answer)
    if arguments.json:
        print(json.dumps({**answer, "measured": measured}))
    else:
        print("\n".join(_lines(answer, measured, arguments)))
    return int(answer["degree"] > 1)


# --- the question -----------------------------------------------------------------------------------------------------


def _of_a_tile(arguments: argparse.Namespace) -> dict[str, Any]:
    tile = {name: value if (value := getattr(arguments, name)) is not None else usual for name, usual in _TILE.items()}
    tile["padding_bytes"] = tile.pop("padding")
    named = arguments.access in TILE_ACCESSES
    width = arguments.width
    if width is None:
        width = (
            MATRIX_BYTES if arguments.access in MATRIX_ACCESSES else element_type(arguments.dtype or "float32").bytes
        )
    if arguments.op not in OPS:
        raise InputError(
            "a tile is read by name", field="op", value=arguments.op, limit=OPS,
            fix="use the access ldmatrix or ldmatrix_trans, or give --addresses",
        )  # fmt: skip
    access = {
        "access": arguments.access if named else "expression", "width_bytes": width, "op": arguments.op,
        "expression": "" if named else arguments.access,
    }  # fmt: skip
    answer = cost_answer({"tile": tile, "access": access})
    return {**answer, "op": MATRIX_ACCESSES.get(arguments.access, arguments.op), "width_bytes": width, "tile": tile}


def _listed(arguments: argparse.Namespace) -> dict[str, Any]:
    """The answer to a list of addresses, which belongs to no tile."""
    for name in ("dtype", *_TILE):
        if getattr(arguments, name) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(
                "says nothing of a list of addresses", field=flag, value=getattr(arguments, name), fix="leave it"
            )
    addresses, width = _read_addresses(arguments.addresses), arguments.width
    if arguments.op in MATRIX_OPS:
        if width not in (None, MATRIX_BYTES):
            raise InputError("a row of a matrix has 16 bytes", field="width", value=width, limit=16, fix="leave it")
        found, width = matrix_access(addresses, arguments.op), MATRIX_BYTES
    else:
        width = 4 if width is None else width
        found = warp_access(addresses, width, op=arguments.op)
    return {"schema": SCHEMA, **_told(found), "op": arguments.op, "width_bytes": width, "tile": None}


def _told(found: WarpAccess) -> dict[str, Any]:
    return {
        "addresses": list(found.addresses),
        "waves": [{"lanes": list(wave.lanes), "words": list(wave.words)} for wave in found.wavefronts],
        "degree": found.degree, "count": found.count, "min_count": found.min_count, "cycles": found.cycles,
        "advice": None, "notes": [],
    }  # fmt: skip


def _read_addresses(text: str) -> list[int | None]:
    text = sys.stdin.read(_MOST_READ + 1) if text == "-" else text
    if len(text) > _MOST_READ:
        raise InputError("too long", field="addresses", value=text, limit=_MOST_READ, fix="give 32 addresses")
    words = re.split(r"[\s,;]+", text.strip(" \t\r\n[](),;"))
    found: list[int | None] = []
    for lane, word in enumerate(words):
        if word.lower() in ("x", "none", "null"):
            found.append(None)
        elif re.fullmatch(r"0[xX][\da-fA-F]{1,16}|\d{1,19}", word, re.ASCII):
            found.append(int(word, 16 if word[:2] in ("0x", "0X") else 10))
        else:
            fix = "give whole numbers, as 128 or 0x80, with commas or spaces between them; x for a lane that is off"
            raise InputError("not an address", field=f"addresses[{lane}]", value=word, fix=fix)
    return found


def _measured(answer: dict[str, Any]) -> dict[str, Any] | None:
    """What an H200 took for just these addresses, if that is recorded."""
    from tmalab.experiment.bank_patterns import Pattern
    from tmalab.recordings.banks import measured_pattern

    seen = measured_pattern(Pattern(tuple(answer["addresses"]), answer["width_bytes"], answer["op"]))
    if seen is None:
        return None
    return {
        "wavefronts": seen.wavefronts, "cycles": round(seen.cycles, 2), "spread": round(seen.spread, 2),
        "case": seen.observation.case.name, "provenance": seen.observation.provenance.line(),
    }  # fmt: skip


# --- the answer -------------------------------------------------------------------------------------------------------


def _lines(answer: dict[str, Any], measured: dict[str, Any] | None, arguments: argparse.Namespace) -> list[str]:
    degree, count, cycles = answer["degree"], answer["count"], answer["cycles"]
    way = "no conflict" if degree == 1 else f"{degree}-way conflict"
    fewest = f"{answer['min_count']} at the least"
    lines = [f"{way}: {_plural(count, 'wavefront')}, {fewest}; {_plural(cycles, 'cycle')} an access"]
    if measured:
        took = f"{_plural(measured['wavefronts'], 'wavefront')}, {measured['cycles']:.2f} cycles an access"
        lines += [f"measured: {took}", f"          {measured['provenance']}"]
    else:
        lines.append("model, not measured: there is no recording of these addresses")
    if not arguments.no_chart:
        lines += ["", *chart(answer)]
    lines += ["", *_table(answer["waves"], len(answer["waves"]) if arguments.all else _LINES)]
    advice = answer["advice"]
    lines += ["", *([advice["words"]] if advice else []), *answer["notes"]]
    return lines if lines[-1] else lines[:-1]


def chart(answer: dict[str, Any]) -> list[str]:
    """The 32 banks as bars, two characters each: how many words each must deliver; below them their numbers."""
    words = {word for wave in answer["waves"] for word in wave["words"]}
    counts = [sum(word % NUM_BANKS == bank for word in words) for bank in range(NUM_BANKS)]
    most = max(counts)
    blocks = " ▁▂▃▄▅▆▇█" if _prints("█") else " .:::||||"[:9]
    lines = []
    for level in reversed(range(_HIGH)):
        filled = [min(max(8 * _HIGH * count / max(most, 2) - 8 * level, 0), 8) for count in counts]
        row = "".join(f"{blocks[-(-int(part * 8) // 8)]} " for part in filled)
        lines.append(f"{most if level == _HIGH - 1 else '':>5}  {row}".rstrip())
    lines.append("bank   " + "".join(f"{bank:<8}" for bank in range(0, NUM_BANKS, 4)).rstrip())
    return lines


def _prints(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _table(waves: list[dict[str, Any]], most: int) -> list[str]:
    rows: list[tuple[str, ...]] = [("wavefront", "lanes", "words", "banks")]
    for number, wave in enumerate(waves[:most], 1):
        banks = sorted({word % NUM_BANKS for word in wave["words"]})
        rows.append((str(number), *(_cut(runs(listed)) for listed in (wave["lanes"], wave["words"], banks))))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join((row[0].rjust(widths[0]), *map(str.ljust, row[1:], widths[1:]))).rstrip() for row in rows]
    return [*lines, f"… {len(waves) - most} more (--all)"] if len(waves) > most else lines


def runs(numbers: list[int]) -> str:
    """Sorted numbers, those in a row together: 0-7 16."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in found)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: text.rfind(" ", 0, _WIDEST - 1)] + " …"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
