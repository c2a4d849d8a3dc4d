"""Whether an im2col map's corners are the ones that its convolution needs.

    lower = -padding          upper = padding - dilation * (kernel - 1)          one entry an axis, W first
    window origins along W:   (global_dim[1] + upper - lower) / stride, rounded up, = the output's width

>>> right_corners({"kernel": [3, 3], "padding": 0}, axes=2)
([0, 0], [-2, -2])

Source: PTX ISA, Im2col mode, bounding box. Kernel, padding, stride and dilation are lists outermost first (H, W), as
frameworks write them, or one integer for every axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tmalab.checker.mapping import Note
from tmalab.errors import InputError, wrong_length
from tmalab.model.tensor_map import TensorMap
from tmalab.model.tensor_map_fields import integer

_KEYS = {"kernel": None, "padding": 0, "stride": 1, "dilation": 1}


def _per_axis(conv: Mapping[str, Any], name: str, axes: int) -> list[int]:
    value = conv.get(name, _KEYS[name])
    listed = list(value) if isinstance(value, (list, tuple)) else [value] * axes
    if len(listed) != axes:
        raise InputError(wrong_length(len(listed), axes), field=f"conv.{name}", value=value, limit=axes)
    return [integer(f"conv.{name}", entry) for entry in reversed(listed)]


def right_corners(conv: Mapping[str, Any], axes: int) -> tuple[list[int], list[int]]:
    """Lower and upper corner, W first. Raises InputError for a convolution that is not described in these words."""
    if not isinstance(conv, Mapping) or set(conv) - set(_KEYS):
        fix = "give kernel, padding, stride and dilation"
        raise InputError("not a convolution", field="conv", value=conv, fix=fix)
    padding, dilation = _per_axis(conv, "padding", axes), _per_axis(conv, "dilation", axes)
    kernel = _per_axis(conv, "kernel", axes)
    upper = [pad - step * (size - 1) for pad, step, size in zip(padding, dilation, kernel, strict=True)]
    return [-pad for pad in padding], upper


def corner_facts(tm: TensorMap, conv: Mapping[str, Any]) -> tuple[dict[str, Any], list[Note]]:
    """The right corners beside the given ones, and a note where the engine would walk other window origins."""
    axes = max(tm.rank - 2, 0)
    lower, upper = right_corners(conv, axes)
    stride = _per_axis(conv, "stride", axes)
    facts: dict[str, Any] = {"lower_corner": lower, "upper_corner": upper}
    if axes == 0:
        return facts, []
    width, step = tm.global_dim[1], max(stride[0], 1)
    facts["origins_per_row_used"] = -(-(width + tm.upper_corner[0] - tm.lower_corner[0]) // step)
    facts["origins_per_row_right"] = -(-(width + upper[0] - lower[0]) // step)
    if (list(tm.lower_corner), list(tm.upper_corner)) == (lower, upper):
        return facts, []
    message = (
        f"corners {list(tm.lower_corner)} and {list(tm.upper_corner)} walk {facts['origins_per_row_used']} window "
        f"origins along W; this convolution has {facts['origins_per_row_right']}: use {lower} and {upper} "
        "(-padding, padding - dilation * (kernel - 1))"
    )
    return facts, [Note("im2col_bounding_box", message)]
