"""What a shared address must be for a swizzle pattern to begin where index arithmetic on a tile expects it.

    mode   span   pattern repeats every        so a tile-relative XOR is right at multiples of
    32B     32    8 rows =  256 bytes           256
    64B     64    8 rows =  512 bytes           512
    128B   128    8 rows = 1024 bytes          1024        the instruction itself asks for 128, in every mode

>>> pattern_bytes("128B"), pattern_bytes("none")
(1024, 128)

Source: PTX ISA, Swizzling Modes; that the XOR follows the absolute address was measured on H200.
"""

from __future__ import annotations

from tmalab.model.swizzle import PATTERNS

TILE_ALIGN_BYTES = 128
SPANS = {mode: pattern.span_bytes for mode, pattern in PATTERNS.items()}


def pattern_bytes(swizzle: str) -> int:
    """The alignment at which the pattern of `swizzle` begins with its first row."""
    return max(PATTERNS[swizzle].repeat_bytes, TILE_ALIGN_BYTES)
