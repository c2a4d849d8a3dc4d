"""`Case`: one named experiment, whole, as plain JSON: which probe runs, and everything that it is given.

    Case(name, probe, params)  ──hardware──▶  Observation
                               ──key──▶       the recording that answers it

>>> case = Case("swizzle/none", "tile_load", {"coords": [0, 0]})
>>> case == Case.from_dict(case.to_dict()), len(case.key)
(True, 64)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tmalab.errors import InputError


@dataclass(frozen=True)
class Case:
    """One experiment. `probe` names the kernel's runner, `params` (JSON values) all of its inputs.

    Raises InputError where `params` holds something that JSON cannot.
    """

    name: str
    probe: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            plain = json.loads(json.dumps(dict(self.params), allow_nan=False))
        except (TypeError, ValueError) as error:
            raise InputError(f"not JSON: {error}", field="params", value=self.params, fix="use plain values") from None
        object.__setattr__(self, "params", plain)

    @property
    def key(self) -> str:
        """SHA-256 of probe and params: two cases with one key are the same experiment, whatever their names."""
        text = json.dumps([self.probe, self.params], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __hash__(self) -> int:
        return hash((self.name, self.key))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON; `from_dict` reads it back."""
        return {"name": self.name, "probe": self.probe, "params": dict(self.params)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Case:
        """The case that `to_dict` wrote."""
        return cls(fields["name"], fields["probe"], fields["params"])
