"""One broken rule, in the form that every layer shares: rule, field, value, limit, message, fix, source.

>>> violation = Violation("box_dim_range_1_256", "box_dim[1]", 512, 256,
...                       "box_dim[1]=512; a box has at most 256 elements in a dimension.",
...                       "Use 256 and issue 2 copies.", "driver API: cuTensorMapEncodeTiled, boxDim")
>>> violation.rule, violation.value, violation.limit
('box_dim_range_1_256', 512, 256)
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Violation(NamedTuple):
    """A rule that a tensor map or a launch breaks (or, from `warnings()`, a legal thing that is unwise).

    `rule` is a stable identifier; `field` the exact place (`box_dim[1]`); `value` what stands there and `limit`
    what is allowed; `message` says it in a sentence and `fix` what to write instead. `source` is the manual's
    section, or *measured on H200, driver, date*. `cuda_error` is what a launch would raise, without the
    `CUDA_ERROR_` prefix, and None for a descriptor rule.
    """

    rule: str
    field: str
    value: Any
    limit: Any
    message: str
    fix: str
    source: str
    cuda_error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """A dict for JSON; `cuda_error` only where there is one."""
        as_dict = self._asdict()
        if self.cuda_error is None:
            del as_dict["cuda_error"]
        return as_dict
