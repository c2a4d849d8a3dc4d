"""`TensorMap`: the model of `CUtensorMap`, with dimensions innermost first and strides in bytes, as in the driver.

    driver          violations()          rules that cuTensorMapEncode… would refuse it for
    barrier         transaction_bytes()   what one load completes on its mbarrier
    shared memory   footprint_bytes()     what one box spans there, padding included

>>> tm = TensorMap.tiled("float16", (128, 16), (256,), (64, 8), swizzle="128B")
>>> tm.violations(), tm.transaction_bytes(), tm.footprint_bytes()
([], 1024, 1024)

Any integers build one, illegal ones included, so that they can be checked. No numpy is imported here: a page of
the book runs this file in the reader's browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from tmalab.errors import TensorMapError
from tmalab.model import box_bytes, rules
from tmalab.model.array_view import fields_of_array
from tmalab.model.tensor_map_fields import TensorMapFields
from tmalab.model.violation import Violation


class TensorMap(TensorMapFields):
    """A tensor map, legal or not. Build one with `tiled`, `im2col` or `from_array`; it does not change afterwards.

    Sources: CUDA driver API, section Tensor Map Object Management; PTX ISA, Tensors.
    """

    __slots__ = ()

    @classmethod
    def from_array(
        cls, array: Any, box_shape: Sequence[int], *, element_strides: Sequence[int] | None = None,
        swizzle: str = "none", l2_promotion: str = "none", oob_fill: str = "none",
    ) -> Self:  # fmt: skip
        """The tiled map of a NumPy, CuPy, torch or JAX array (through DLPack), for a box of NumPy-ordered `box_shape`.

        `box_shape` and `element_strides` are outermost first, like the array's shape; the map's fields are
        innermost first. This is the one place that reverses. Raises InputError where the innermost stride is not
        one element, since a tensor map has no stride for dimension 0.
        """
        fields = fields_of_array(array, box_shape, element_strides)
        return cls.tiled(**fields, swizzle=swizzle, l2_promotion=l2_promotion, oob_fill=oob_fill)

    def violations(self, arch: str = "sm_90") -> list[Violation]:
        """Every rule that `cuTensorMapEncodeTiled` or `…Im2col` would refuse this map for on `arch`; [] if legal."""
        return rules.violations(self, arch)

    def warnings(self) -> list[Violation]:
        """What is legal but unwise; never mixed with violations."""
        return rules.warnings(self)

    def transaction_bytes(self) -> int:
        """Bytes that one load completes on its mbarrier, out-of-bounds elements included: what to expect_tx."""
        return box_bytes.transaction_bytes(self)

    def footprint_bytes(self) -> int:
        """Bytes of shared memory that one box spans, from its first byte to its last, padding of rows included."""
        return box_bytes.footprint_bytes(self)

    def encode(self) -> bytes:
        """The 128 bytes that the driver writes for this map. Raises TensorMapError listing every violation.

        Needs NVIDIA's driver library: NoHopperGpuError says why where there is none.
        """
        broken = self.violations()
        if broken:
            raise TensorMapError(broken)
        from tmalab.hardware.encode import encode_tensor_map  # late: the model itself needs no driver

        return encode_tensor_map(self)
