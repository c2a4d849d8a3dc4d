"""`check_text`: a text in any form, and the answer to it; the command line and the book's page call the same function.

    text ──detect──▶ readings ──▶ descriptor | array | launch | layout ──▶ Answer      batch: one answer over its parts

>>> answer = check_text('{"dtype": "float32", "global_dim": [40], "box_dim": [64]}')
>>> answer.verdict, [warning.rule for warning in answer.warnings]
('accept', ['box_wider_than_tensor'])

Nothing here loads numpy, opens a file or reads the clock.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tmalab.checker.answer import SCHEMA, Answer, of_parts, unreadable
from tmalab.checker.descriptor import answer_descriptor
from tmalab.checker.options import Options, refuse_another_arch, refuse_what_changes_nothing
from tmalab.errors import InputError
from tmalab.inputs.detect import read_text
from tmalab.inputs.field_names import canonical, close_to
from tmalab.inputs.position import UnreadableError
from tmalab.inputs.reading import Reading

# A batch with more unreadable entries than this is not a batch of descriptors.
MOST_UNREADABLE = 20
_MOST_VARIANTS = 1000
# Modes of the case file that later parts of the package answer.
LATER = {
    "perf_note": "a question about speed is answered in words only",
}


def answer_reading(reading: Reading, options: Options) -> Answer:
    """The answer to one reading. Raises UnreadableError for what its fields cannot mean."""
    kind = reading.kind
    if "arch" in reading.fields or options.facts:
        try:
            refuse_another_arch(options, reading.fields)
            refuse_what_changes_nothing(options, reading)
        except InputError as error:
            raise reading.unreadable(error) from None
    if reading.form == "encoded":
        from tmalab.checker.encoded import answer_encoded

        return answer_encoded(reading, options)
    if kind in ("tiled", "im2col"):
        return answer_descriptor(reading, options)
    if kind == "tiled_set":
        return _answer_set(reading, options)
    if kind == "dlpack":
        from tmalab.checker.array import answer_array

        return answer_array(reading, options)
    if kind == "triton_descriptor":
        from tmalab.checker.triton import answer_triton

        return answer_triton(reading, options)
    if kind in ("launch_operand", "descriptor_location"):
        from tmalab.checker.launch import answer_launch

        return answer_launch(reading, options)
    if kind == "layout_query":
        from tmalab.checker.layout import answer_layout

        return answer_layout(reading, options)
    if kind == "tile_partition":
        from tmalab.checker.partition import answer_partition

        return answer_partition(reading, options)
    if kind == "cute_partition":
        from tmalab.checker.cute_partition import answer_cute_partition

        return answer_cute_partition(reading, options)
    if kind in ("barrier_program", "cluster_barrier", "sync_story"):
        from tmalab.checker.barrier import answer_barrier

        return answer_barrier(reading, options)
    if kind == "bank_pattern":
        from tmalab.checker.banks import answer_banks

        return answer_banks(reading, options)
    modes = (
        "tiled",
        "im2col",
        "tiled_set",
        "dlpack",
        "triton_descriptor",
        "launch_operand",
        "descriptor_location",
        "layout_query",
        "tile_partition",
        "cute_partition",
        "bank_pattern",
        "barrier_program",
        "cluster_barrier",
        "sync_story",
    )
    message = LATER.get(kind, "unknown kind of question")
    fix = f"use one of {', '.join(modes)}"
    raise reading.unreadable(InputError(message, field="kind", value=reading.fields.get("kind"), fix=fix))


def _answer_set(reading: Reading, options: Options) -> Answer:
    variants = reading.fields.get("variants")
    if not isinstance(variants, list) or not 0 < len(variants) <= _MOST_VARIANTS:
        fix = f"give 1 to {_MOST_VARIANTS} objects in brackets"
        error = InputError("not a list of descriptors", field="variants", value=variants, limit=_MOST_VARIANTS, fix=fix)
        raise reading.unreadable(error)
    parts = []
    for index, variant in enumerate(variants):
        if not isinstance(variant, dict):
            raise reading.unreadable(InputError("not an object", field=f"variants[{index}]", value=variant))
        fields = {}
        for key, value in variant.items():
            field = canonical(key)
            if field is None:
                near = " or ".join(close_to(key))
                error = InputError(
                    "unknown key", field=f"variants[{index}]", value=key, fix=near and f"did you mean {near}?"
                )
                raise reading.unreadable(error)
            if value is not None:
                fields[field] = value
        if fields.get("kind") == "tiled_set":
            raise reading.unreadable(InputError("a set within a set", field=f"variants[{index}]", value="tiled_set"))
        at = reading.locate(f"variants[{index}]") if reading.locate else reading.offset
        parts.append(answer_reading(Reading(reading.form, fields, reading.text, at), options))
    answer = of_parts(reading.form, "tiled_set", tuple(parts), arch=options.arch)
    return answer._replace(facts={**answer.facts, "per_variant": [part.verdict for part in parts]})


class _Lines:
    """The line number of offsets that come in ascending order, each newline counted once."""

    def __init__(self, text: str):
        self.text, self.offset, self.line = text, 0, 1

    def at(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`, counted from 1."""
        if offset < self.offset:
            self.offset, self.line = 0, 1
        self.line += self.text.count("\n", self.offset, offset)
        self.offset = offset
        return self.line, offset - self.text.rfind("\n", 0, offset)


def answers(text: str, options: Options) -> Iterator[Answer]:
    """The answer to each thing that `text` asks, in order; unreadable ones are answers too.

    After MOST_UNREADABLE unreadable entries the last of them says so and reading stops.
    """
    lines, failed = _Lines(text), 0
    for reading in read_text(text, form=options.form, keep_unknown=options.keep_unknown):
        answer = unreadable(reading) if isinstance(reading, UnreadableError) else _answer(reading, options)
        if answer.error is not None:
            failed += 1
            yield answer
            if failed == MOST_UNREADABLE:
                return
            continue
        yield answer.at(*lines.at(reading.offset))


def _answer(reading: Reading, options: Options) -> Answer:
    try:
        return answer_reading(reading, options)
    except UnreadableError as error:
        return unreadable(error)


def check_text(text: str, options: Options | Mapping[str, Any] | None = None) -> Answer:
    """The answer to `text`; where it asks several things, one answer with `parts`.

    Raises InputError for an option that is not known; what is wrong with `text` is an answer.
    """
    known = Options.of(options)
    found = tuple(answers(text, known))
    return found[0] if len(found) == 1 else of_parts(found[0].form, "batch", found, arch=known.arch)


def check_json(text: str, options: str = "{}") -> str:
    """The same for a page's worker: options as a JSON object, the answer as JSON. It raises nothing."""
    try:
        said = json.loads(options)
        if not isinstance(said, dict):
            raise InputError("not a JSON object", field="options", value=options)
        made = check_text(text, said).to_dict()
    except (ValueError, RecursionError) as error:  # InputError is a ValueError
        made = {
            "schema": SCHEMA,
            "verdict": "unreadable",
            "error": {"message": str(error), "line": None, "column": None},
        }
    return json.dumps(made, ensure_ascii=True)
