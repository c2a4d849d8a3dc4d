"""Every name under which a field may be given, and the nearest known one for a name that is not.

    global_strides_bytes, globalStrides, --global-strides  ──▶  global_strides

>>> canonical("boxDim"), canonical("box_dmi"), close_to("box_dmi")
('box_dim', None, ['box_dim'])

Three groups: the tensor map's own fields, facts beside it (where it is used, what is allocated), and words that a
record carries about itself, which are read and left aside.
"""

from __future__ import annotations

# The tensor map's fields, named as `TensorMap` names them, with the driver's parameter names and others in use.
MAP_FIELDS: dict[str, tuple[str, ...]] = {
    "kind": ("mode",),
    "dtype": ("tensor_data_type", "data_type", "element_type", "format", "type"),
    "rank": ("tensor_rank", "dim", "ndim"),
    "global_dim": ("global_dims", "global_size"),
    "global_strides": ("global_strides_bytes", "global_stride", "global_stride_bytes"),
    "box_dim": ("box_dims", "box", "box_size", "smem_box_dim"),
    "element_strides": ("element_stride", "elem_strides", "elem_stride", "traversal_strides"),
    "interleave": ("interleave_layout",),
    "swizzle": ("swizzle_mode", "smem_swizzle"),
    "l2_promotion": ("l2promotion", "l2promo"),
    "oob_fill": ("oobfill", "float_oob_fill", "oob"),
    "address": ("base_address", "global_address", "gmem_address", "data_ptr"),
    "lower_corner": ("pixel_box_lower_corner", "lower_corner_used"),
    "upper_corner": ("pixel_box_upper_corner", "upper_corner_used"),
    "channels_per_pixel": ("smem_box_channel",),
    "pixels_per_column": ("smem_box_pixel",),
}
# Facts that no descriptor holds but an answer needs: the allocation behind it, the copy that uses it, the question.
FACTS: dict[str, tuple[str, ...]] = {
    "base_align": ("base_alignment", "global_align"),
    "address_offset": ("base_address_mod_16", "base_address_mod_1024", "address_mod_16", "global_address_mod_16"),
    "storage_bytes": ("allocation_bytes",),
    "coords": ("coordinates",),
    "coords_inner": ("inner_coords", "coord_inner"),
    "offsets": (),
    "direction": (),
    "op": ("reduce_op",),
    "smem_base": ("smem_address",),
    "smem_bytes": (),
    "descriptor_space": (),
    "descriptor_align": (),
    "expect_tx_bytes": ("expect_bytes", "expect_tx"),
    "live_rows": (),
    "conv": (),
    "fill": (),
    "copies": (),
    "built_on": (),
    "load_mode": (),
    "variants": (),
    "arch": (),
}
# A question about an array, a layout in shared memory or an instruction's operands.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "shape": (),
    "strides_elements": ("strides",),
    "strides_bytes": (),
    "box_shape": (),
    "byte_offset": (),
    "layout": (),
    "tile": (),
    "row_offset": (),
    "col_offset": (),
    "element": (),
    "scan_elems": (),
    "reader": (),
    "instruction": (),
    "swizzles": (),
    "tensormap_address_mod_128": (
        "tensormap_address_mod_64",
        "descriptor_address_mod_128",
        "descriptor_address_mod_64",
    ),
    "tensormap_address": (),
    "smem_offset": ("smem_offset_mod_1024", "smem_address_mod_1024", "smem_base_mod_1024"),
    "smem_offset_mod_128": ("smem_address_mod_128", "smem_base_mod_128", "smem_dst_mod_128"),
    "smem_align": ("smem_declared_align", "declared_align", "smem_alignment", "smem_base_align"),
    "slots": ("stages", "num_stages"),
    "slot_elems": ("stage_elems",),
    "slot_bytes": ("stage_bytes", "stage_stride_bytes", "slot_stride_bytes"),
    "slot_offsets": ("stage_offsets", "smem_offsets"),
    "gmem_align": ("gmem_alignment", "gmem_address_mod_16"),
    "size_bytes": ("copy_bytes",),
    "location": ("descriptor_location",),
    "param_space": (),
    "written_by": (),
    "fence_tensormap_acquire": (),
    "cta_n": (),
    "warp_n": (),
    "panel_cols": (),
    "atom_gbasis": ("tma_gbasis",),
    "smem": (),
    "gmem": (),
    "group_modes": (),
    "events": (),
    "addr": ("addresses",),
    "width_bytes": ("vector_bytes",),
    "lanes": (),
    "cluster": ("cluster_size",),
    "init_count": (),
    "arrivals_per_cta": (),
    "k_tiles": (),
    "issued_k_tiles": (),
    "issue_site": (),
}
# What records and notes carry about themselves. They are known, and they change no answer.
IGNORED = (
    "note", "comment", "name", "id", "source", "question", "accepted", "error", "completed", "changed", "sha256",
    "data_seed", "smem_seed", "schema",
)  # fmt: skip


def _spell(name: str) -> str:
    """`name` without case, underscores and dashes: boxDim, BOX_DIM and box-dim are one name."""
    return name.replace("_", "").replace("-", "").lower()


_TABLES = (MAP_FIELDS, FACTS, QUESTIONS)
# Exact names first: the batch reader asks this table 12 times a descriptor.
CANONICAL: dict[str, str] = {
    name: field for table in _TABLES for field, others in table.items() for name in (field, *others)
} | {name: name for name in IGNORED}
_SPELLED = {_spell(name): field for name, field in CANONICAL.items()}


def canonical(name: str) -> str | None:
    """The field that `name` means, or None. Case, underscores and dashes do not count: boxDim is box_dim."""
    return CANONICAL.get(name) or (_SPELLED.get(_spell(name)) if len(name) <= 64 else None)


def close_to(name: str) -> list[str]:
    """Up to three known names that look like `name`, the likeliest first."""
    from difflib import get_close_matches  # late: only a misspelled key needs it

    near = get_close_matches(_spell(name[:64]), _SPELLED, n=3, cutoff=0.65)
    return list(dict.fromkeys(_SPELLED[spelled] for spelled in near))
