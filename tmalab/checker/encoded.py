"""The answer to a map's 128 bytes: that of its descriptor, and where the bytes are not what the driver writes for it.

    bytes ──decode──▶ map ──expected──▶ bytes        the same? else which field says something else

>>> from tmalab.checker.check import check_text
>>> damaged = bytearray(expected(TensorMap.tiled("float16", (128, 16), (256,), (64, 8), address=1 << 40)))
>>> damaged[56] = 3  # where 7 stood: box_dim[1] less 1
>>> [found] = check_text(damaged.hex()).warnings
>>> found.message
'box_bytes=1024; the other fields make it 512.'
"""

from __future__ import annotations

from collections.abc import Iterator

from tmalab.checker.answer import Answer
from tmalab.checker.descriptor import answer_descriptor
from tmalab.checker.mapping import Note
from tmalab.checker.options import Options
from tmalab.inputs.reading import Reading
from tmalab.model.encoded_map import differing, expected, read_bits, unknown_bits
from tmalab.model.tensor_map import TensorMap
from tmalab.model.violation import Violation

_SOURCE = "measured on H200, driver 580.159.04"
_FIX = "Encode the map again and copy all 128 bytes of it; look for what writes over them."


def answer_encoded(reading: Reading, options: Options) -> Answer:
    """The answer to a reading of the form `encoded`. Raises UnreadableError as `answer_descriptor` does."""
    # Who encoded a map copies with it, so that the engine's rules hold too.
    answer = answer_descriptor(reading, options._replace(facts={"descriptor_align": 64, **options.facts}))
    tm, data, address = answer.tensor_map, reading.fields["encoded"], reading.fields.get("descriptor_align", 64)
    if address % 64:
        message = (
            f"the bytes were printed at {address:#x}, {address % 64} past a multiple of 64: the engine faults where it "
            "reads the map there; a host's copy that a kernel takes by value may lie anywhere once it is encoded"
        )
        answer = answer._replace(notes=(*answer.notes, Note("tensormap_address_align_64", message)))
    if tm is None or tm.violations():  # there is nothing to hold the bytes against
        message = "of such a map the driver writes nothing: these bytes were changed after they were encoded"
        notes = [Note("encoded_as_the_driver_writes", message)] if answer.violations else []
        return answer._replace(notes=(*answer.notes, *notes))
    return answer._replace(warnings=(*answer.warnings, *_contradictions(tm, data)))


def _contradictions(tm: TensorMap, data: bytes) -> Iterator[Violation]:
    """Each field whose bits are not those that the driver writes beside the others."""
    written = expected(tm)
    for field in differing(data, written):
        value: int | list[int]
        made: int | None
        if field == "other":
            field, value, made = "encoded", unknown_bits(data), None
            message = f"bits of no known field are set: {', '.join(map(str, value))}."
        else:
            value, made = read_bits(data, field), read_bits(written, field)
            message = f"{field}={value}; the other fields make it {made}."
        yield Violation("encoded_as_the_driver_writes", field, value, made, message, _FIX, _SOURCE)
