"""The answer to a tile that is split among warps: does a swizzled panel straddle the boundary, and which mode fits?

    cta_n 192, warp_n 96, panels of 64 columns:  0 | 64 | 128       96 lies inside panel 1; panels of 32 end there

>>> from tmalab.inputs.reading import Reading
>>> said = {"kind": "tile_partition", "dtype": "float16", "cta_n": 192, "warp_n": 96}
>>> answer_partition(Reading("json", said), Options()).facts
{'panel_cols': {'128B': 64, '64B': 32, '32B': 16}, 'straddled_panel': 1, 'widest_ok': '64B'}
"""

from __future__ import annotations

from typing import Any

from tmalab.checker.answer import Answer
from tmalab.checker.descriptor import number
from tmalab.checker.mapping import Note
from tmalab.checker.options import Options
from tmalab.checker.shared_address import SPANS
from tmalab.errors import InputError
from tmalab.inputs.reading import Reading
from tmalab.inputs.words import word
from tmalab.model.element_types import element_type

RULE = "panel_must_divide_warp_tile"


def answer_partition(reading: Reading, options: Options) -> Answer:
    """The answer to a reading of a split tile. Raises UnreadableError where its sizes are not said."""
    said = {**options.facts, **reading.fields}
    try:
        cta, warp = (_size(said, name) for name in ("cta_n", "warp_n"))
        given = said.get("panel_cols")
        if given is None:
            bits = element_type(word("dtype", said.get("dtype", "float16"))).bits
            given = {mode: SPANS[mode] * 8 // bits for mode in ("128B", "64B", "32B")}
        if not isinstance(given, dict) or not given or any(mode not in SPANS for mode in given):
            raise InputError("not columns by swizzle", field="panel_cols", value=given, fix='give {"128B": 64, …}')
        panels = {mode: _size(given, mode) for mode in given}
    except InputError as error:
        raise reading.unreadable(error) from None
    facts: dict[str, Any] = {"panel_cols": panels}
    widest_first = sorted(panels, key=lambda mode: -panels[mode])
    fits = [mode for mode in widest_first if warp % panels[mode] == 0]
    straddled = [mode for mode in widest_first if mode not in fits and warp < cta]
    if straddled:
        facts["straddled_panel"] = warp // panels[straddled[0]]
    facts["widest_ok"] = fits[0] if fits else None
    verdict = "accept" if not straddled else "mixed" if fits else "wrong_data"
    message = f"a warp's {warp} columns must be whole panels: {', '.join(fits) or 'none'} fit, and the widest is best"
    return Answer(
        form=reading.form, kind="tile_partition", verdict=verdict, arch=options.arch, notes=(Note(RULE, message),),
        facts=facts,
    )  # fmt: skip


def _size(said: Any, name: str) -> int:
    if name not in said:
        raise InputError("missing", field=name, value=None, fix="give the columns as an integer")
    value = number(name, said[name])
    if not 1 <= value < 1 << 32:
        raise InputError("not a number of columns", field=name, value=value, limit=1, fix="give at least 1")
    return value
