"""One state of Figure 1, read out of the packed tables, as tile.js reads it: what is drawn is what the page is given.

    hardware, model   what each 16-byte chunk of shared memory holds: a chunk of the tensor, UNTOUCHED or CHANGED
    ids               which chunk of the tensor each chunk of the box is
    compared          the chunks of shared memory that either side touched; `unequal` those where they differ

>>> unpack("1:01ff!!", 6)
[-1, 1, 255, -2, -1, -1]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tmalab.figures.tile_tables import CHANGED, CHUNK, LINE, STATES, TENSOR_CHUNKS, UNTOUCHED

LINE_CHUNKS = LINE // CHUNK


def unpack(text: str, count: int) -> list[int]:
    """The `count` chunks that `tile_tables.pack` wrote."""
    first, body = text.split(":")
    pairs = [body[at : at + 2] for at in range(0, len(body), 2)]
    symbols = {"..": UNTOUCHED, "!!": CHANGED}
    touched = [symbols[pair] if pair in symbols else int(pair, 16) for pair in pairs]
    before = [UNTOUCHED] * int(first)
    return before + touched + [UNTOUCHED] * (count - len(before) - len(touched))


class TileState:
    """Figure 1's `spec` in one state: `swizzle`, `row`, `col`, `base`, and `cell` (row, chunk) of the box."""

    def __init__(self, spec: Mapping[str, Any], state: Mapping[str, Any]):
        self.spec, self.state = spec, state
        number = 0
        for name, values in STATES.items():
            number = number * len(values) + values.index(state[name])
        chunks = spec["smem"]["chunks"]
        self.number, self.mode = number, spec["swizzles"][state["swizzle"]]
        self.measured = spec["hardware"][number] >= 0
        self.model = unpack(spec["tables"][spec["model"][number]], chunks)
        self.hardware = unpack(spec["tables"][spec["hardware"][number]], chunks) if self.measured else self.model
        self.bytes = {one["chunk"]: one for one in spec["changed"].get(str(number), [])}
        touched = [i for i in range(chunks) if (self.model[i], self.hardware[i]) != (UNTOUCHED, UNTOUCHED)]
        self.compared, self.unequal = touched, {i for i in touched if self.model[i] != self.hardware[i]}
        self.cols: int = self.mode["chunks"]
        self.rows = len(self.mode["linear"]) // self.cols
        self.first_col = spec["columns"][STATES["col"].index(state["col"])]
        self.ids = [
            (state["row"] + row) * TENSOR_CHUNKS + self.first_col + col
            for row in range(self.rows)
            for col in range(self.cols)
        ]

    @property
    def index(self) -> int:
        """The chunk of the box that is singled out; a box too small for `cell` gives its nearest one."""
        row, col = self.state["cell"]
        return int(min(row, self.rows - 1) * self.cols + min(col, self.cols - 1))

    @property
    def shown(self) -> list[int]:
        """The table that the view draws."""
        return self.model if self.state["view"] == "model" else self.hardware

    def wrong(self, chunk: int) -> bool:
        """Whether that chunk of shared memory is drawn as one that differs."""
        return self.state["view"] != "model" and chunk in self.unequal

    def banks(self, chunk: int) -> str:
        """The four banks that a chunk of shared memory lies in."""
        return self.spec["banks"][chunk % LINE_CHUNKS]  # type: ignore[no-any-return]

    def held(self, table: Sequence[int], chunk: int) -> str:
        """What a chunk of shared memory holds, in words."""
        what = table[chunk]
        if what == UNTOUCHED:
            return "untouched"
        return f"bytes {self.bytes[chunk]['bytes']}" if what == CHANGED else self.name(what)

    def labels(self, chunk: int) -> tuple[str, str]:
        """The two texts in a cell of shared memory: what it holds, and its byte; or what the model says instead."""
        changed = self.bytes.get(chunk)
        seen, said = (
            str(what % TENSOR_CHUNKS) if what >= 0 else self.spec["smem"]["background"]
            for what in (self.shown[chunk], self.model[chunk])
        )
        if changed and self.state["view"] != "model":
            seen, said = f"0x{changed['is']}", changed["not"]
        if not self.wrong(chunk):
            return seen, str(chunk * CHUNK)
        return seen, f"≠ {said}" if self.state["view"] == "difference" else "diff"

    @staticmethod
    def name(chunk: int) -> str:
        """A chunk of the tensor in words."""
        return f"row {chunk // TENSOR_CHUNKS}, column {chunk % TENSOR_CHUNKS}"

    def count(self) -> str:
        """How many chunks differ, in words."""
        some = len(self.unequal)
        return f"{some} of {len(self.compared)} chunks {'differs' if some == 1 else 'differ'}"

    def sentence(self) -> str:
        """The still's sentence: where the chunk that is singled out stands, by which XOR, and how many differ."""
        linear = self.state["base"] // CHUNK + self.mode["linear"][self.index]
        place = self.model.index(self.ids[self.index])
        line, slot = divmod(linear, LINE_CHUNKS)
        phase, to = self.mode["phases"][line], place % LINE_CHUNKS
        xor = f"chunk {slot} of line {line} XOR {phase} = {to}" if self.mode["period"] > 1 else "no swizzle"
        name = self.name(self.ids[self.index])
        told = f"{name[0].upper()}{name[1:]} → {xor} → shared byte {place * CHUNK}, banks {self.banks(place)}. "
        return told + (f"{self.count()} from the model." if self.measured else "Model, not measured.")

    def data(self) -> list[dict[str, Any]]:
        """One entry a touched chunk of shared memory, in address order, as plain JSON."""

        def plain(table: Sequence[int], chunk: int) -> Any:
            what = table[chunk]
            if what == UNTOUCHED:
                return None
            return self.bytes[chunk]["bytes"] if what == CHANGED else list(divmod(what, TENSOR_CHUNKS))

        return [
            {
                "shared_byte": chunk * CHUNK, "banks": self.banks(chunk),
                "hardware": plain(self.hardware, chunk) if self.measured else "not measured",
                "model": plain(self.model, chunk),
                "equal": chunk not in self.unequal if self.measured else None,
            }
            for chunk in self.compared
        ]  # fmt: skip

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The same as texts: the head, and a row a touched chunk of shared memory."""
        head = ["Shared byte", "Banks", "The hardware left", "The model says", "Equal"]
        rows = []
        for chunk in self.compared:
            hardware, verdict = "not measured", "–"
            if self.measured:
                hardware = self.held(self.hardware, chunk)
                verdict = "differs" if chunk in self.unequal else "equal"
            rows.append([str(chunk * CHUNK), self.banks(chunk), hardware, self.held(self.model, chunk), verdict])
        return head, rows
