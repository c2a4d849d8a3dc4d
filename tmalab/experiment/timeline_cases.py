"""The cases in which time is what is measured: clocks, two loads on one barrier, a tile landing, seven tiles' parities.

    timeline/two-loads/warm/twin     what the caches hold / what the watching warp looks at
    landing/64x64-128B/cold          box and swizzle / what the caches hold

>>> next(iter(two_load_cases())).params["steps"]
[['ARRIVE_EXPECT_TX', 4096], ['LOAD', 0], ['LOAD', 1]]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tmalab.experiment.case import Case

# --- Two loads, one barrier ------------------------------------------------------------------------------------------

TILE_BYTES = 2048
# What the caches hold before: tile and map; the map and the tensor's neighbourhood; nothing of either.
WARMTHS = ("warm", "cold-data", "cold")
# What the watching warp looks at: the 128-byte lines of both tiles; in a twin run with a barrier a load, the first
# load's; the state that arriving again and again returns.
WATCHES = {"one-barrier": "lines", "twin": "barrier", "counted": "arrives"}
USUAL_STEPS = (("ARRIVE_EXPECT_TX", 2 * TILE_BYTES), ("LOAD", 0), ("LOAD", 1))


def two_load_cases() -> Iterator[Case]:
    """Seed 002's example in each state of the caches, watched in each way."""
    for warmth in WARMTHS:
        for watched, watch in WATCHES.items():
            steps = list(USUAL_STEPS)
            if watched == "twin":  # the kernel arms the second load's barrier itself, before the run
                steps[0] = ("ARRIVE_EXPECT_TX", TILE_BYTES)
            params: dict[str, Any] = {"steps": steps, "watch": watch, "warmth": warmth.replace("-", "_")}
            if watched == "twin":
                params |= {"is_twin": True, "sleeps": False}
            yield Case(f"timeline/two-loads/{warmth}/{watched}", "two_loads", params)


# Orders of arming and loading: (arrivals that the barrier awaits, steps). DELAY is in cycles, more than a load takes.
_A, _B, _LATE = ("LOAD", 0), ("LOAD", 1), ("DELAY", 4000)
ORDERS = {
    "before": (1, (("ARRIVE_EXPECT_TX", 4096), _A, _B)),
    "between": (1, (_A, ("ARRIVE_EXPECT_TX", 4096), _B)),
    "between-late": (1, (_A, _LATE, ("ARRIVE_EXPECT_TX", 4096), _B)),
    "after": (1, (_A, _B, ("ARRIVE_EXPECT_TX", 4096))),
    "after-late": (1, (_A, _B, _LATE, ("ARRIVE_EXPECT_TX", 4096))),
    "halves-two-arrivals": (2, (("ARRIVE_EXPECT_TX", 2048), _A, ("ARRIVE_EXPECT_TX", 2048), _B)),
    "halves-arrive-last": (1, (("EXPECT_TX", 2048), _A, ("EXPECT_TX", 2048), _B, ("ARRIVE", 0))),
    "halves-arrive-last-late": (1, (("EXPECT_TX", 2048), _A, _LATE, ("EXPECT_TX", 2048), _B, ("ARRIVE", 0))),
    "halves-arrive-first": (1, (("ARRIVE_EXPECT_TX", 2048), _A, ("EXPECT_TX", 2048), _B)),
    "halves-arrive-first-late": (1, (("ARRIVE_EXPECT_TX", 2048), _A, _LATE, ("EXPECT_TX", 2048), _B)),
    "halves-arrive-twice": (1, (("ARRIVE_EXPECT_TX", 2048), _A, ("ARRIVE_EXPECT_TX", 2048), _B)),
    "arrive-then-expect": (1, (("ARRIVE", 0), ("EXPECT_TX", 4096), _A, _B)),
}


def order_cases() -> Iterator[Case]:
    """expect_tx before, between and after the loads; 2048 + 2048 against one 4096."""
    for order, (arrivals, steps) in ORDERS.items():
        params = {"steps": steps, "watch": "barrier", "warmth": "warm", "arrivals": arrivals}
        yield Case(f"timeline/order/{order}", "two_loads", {**params, "order": order})


def timeline_cases() -> Iterator[Case]:
    """The clocks, the two loads, and the orders of arming them."""
    yield Case("timeline/clocks", "clocks", {})
    yield from two_load_cases()
    yield from order_cases()


# --- The tile landing ------------------------------------------------------------------------------------------------

# Box (innermost first, float16), swizzle, bytes of a piece: 128 is a line; less, where the tile is small.
LANDINGS = (
    ((64, 8), "128B", 32), ((64, 64), "none", 128), ((32, 128), "64B", 128), ((64, 64), "128B", 128),
    ((64, 128), "128B", 128), ((64, 128), "128B", 32), ((256, 32), "none", 128), ((64, 256), "128B", 128),
    ((256, 128), "none", 128),
)  # fmt: skip


def landing_cases() -> Iterator[Case]:
    """Box shapes and swizzles, with the tile in the L2 and not."""
    for box, swizzle, piece in LANDINGS:
        for warmth in ("warm", "cold"):
            pieces = "" if piece == 128 else f"-by-{piece}"
            params = {"box_dim": box, "swizzle": swizzle, "piece_bytes": piece, "warmth": warmth}
            yield Case(f"landing/{box[0]}x{box[1]}-{swizzle}{pieces}/{warmth}", "landing", params)
    # The map and the tensor's neighbourhood loaded before, the tile not: "cold" fetches the tensor map too.
    params = {"box_dim": (64, 64), "swizzle": "128B", "piece_bytes": 128, "warmth": "cold_data"}
    yield Case("landing/64x64-128B/cold-data", "landing", params)
    # The bytes running down on the barrier, in steps of 2048, in place of the lines.
    for box, swizzle in (((64, 64), "128B"), ((64, 256), "128B"), ((256, 128), "none")):
        for warmth in ("warm", "cold"):
            params = {"box_dim": box, "swizzle": swizzle, "piece_bytes": 128, "warmth": warmth, "counts": True}
            yield Case(f"landing/{box[0]}x{box[1]}-{swizzle}/{warmth}-counts", "landing", params)


# --- Parity ----------------------------------------------------------------------------------------------------------

PARITY_RULES = ("right", "always_0", "always_1", "loop_index", "inverted")


def parity_cases() -> Iterator[Case]:
    """Each rule by which a consumer may choose its parity: asked in flight, asked too late, and as a pipeline runs."""
    for pace in ("early", "late", "free"):
        for rule in PARITY_RULES:
            name = f"parity/{pace}/{rule.replace('_', '-')}"
            yield Case(name, "parity", {"rule": rule, "pace": pace})
