"""Which form a text has, and its readings: JSON, a dump, a map's bytes, a call, flags, a CuTe layout or an array.

    text ──▶ the first form that it looks like ──▶ readings        no form? each one says where it failed

>>> [reading.form for reading in read_text("Sw<3,4,3> o 0 o (8,64):(64,1)")]
['cute']
>>> next(read_text("box 64 by 8")).line
1

Flags, layouts and arrays may be several, one a line. A form is recognised by what only it has, so that a broken JSON
file is reported as JSON and not as nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

from tmalab.inputs.lines import each
from tmalab.inputs.position import UnreadableError, position_of
from tmalab.inputs.reading import Reading


class Form(NamedTuple):
    """An input form: its name, the module that reads it, and what a text of that form begins with or holds."""

    name: str
    module: str
    sign: str


# In the order in which they are tried: a dump's error message names the function, but no other form prints its lines;
# bytes come after what begins as JSON does, and a debugger's lines may stand below the call that was stepped over;
# and TVM's name for the driver's function holds that function's own.
FORMS = (
    Form("json", "json_input", "it begins with { or ["),
    Form("tilelang", "tilelang_dump", "it has the lines TMA Desc Addr … oobFill with [arrays]"),
    Form("cutlass", "cutlass_dump", "it has the lines TMA Desc Addr … oobFill with (arrays)"),
    Form("encoded", "encoded_bytes", "it is a map's 128 bytes, as gdb, xxd or a list of numbers shows them"),
    Form("tvm", "tvm_call", "it calls call_packed with runtime.cuTensorMapEncodeTiled, or another encoder of TVM's"),
    Form("cpp", "cpp_call", "it calls cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col"),
    Form("triton", "triton_call", "it calls TensorDescriptor or tl.make_tensor_descriptor"),
    Form("flags", "flags", "it begins with --dtype or another flag"),
    Form("cute", "cute_layout", "it begins with Sw<B,M,S> or is (shape):(stride)"),
    Form("array", "array_spec", "it is shape:strides:dtype, one a line"),
)
FORM_NAMES = tuple(form.name for form in FORMS)


def read_text(text: str, *, form: str | None = None, keep_unknown: bool = False) -> Iterator[Reading | UnreadableError]:
    """The readings of `text`, whose form is found unless `form` names it; what cannot be read is yielded as its error.

    `keep_unknown` is the JSON form's: unknown keys become notes.
    """
    if not text or text.isspace() or text == "\ufeff":
        yield UnreadableError(
            "the input is empty", text=text, fix="give a descriptor; tmalab check --help shows the forms"
        )
        return
    for known in FORMS:
        if form is None or form == known.name:
            module = import_module(f"tmalab.inputs.{known.module}")
            if form == known.name or module.looks_like(text):
                yield from _readings(module, text, known.name, keep_unknown)
                return
    if text.lstrip()[:1] in ("{", "["):  # JSON from its first key on is broken
        yield from _readings(import_module("tmalab.inputs.json_input"), text, "json", keep_unknown)
        return
    yield _no_form(text)


def _readings(module: Any, text: str, form: str, keep_unknown: bool) -> Iterator[Reading | UnreadableError]:
    read: Callable[..., Iterator[Reading | UnreadableError] | Reading] = module.read
    starts: list[int] = module.starts(text) if "\n" in text and hasattr(module, "starts") else []
    if len(starts) > 1:
        yield from each(text, starts, module.read, form)
        return
    try:
        found = read(text, keep_unknown=keep_unknown) if form == "json" else read(text)
    except UnreadableError as error:
        yield error
        return
    if isinstance(found, Reading):
        yield found
        return
    empty = True
    for reading in found:
        empty = False
        yield reading
    if empty:
        yield UnreadableError(f"nothing in it is {form}", text=text, form=form)


def _no_form(text: str) -> UnreadableError:
    """The error that names every form that was tried, and where each one failed."""
    begin = next((index for index, mark in enumerate(text[:10_000]) if not mark.isspace()), 0)
    failed = []
    for form in FORMS:
        place, why = position_of(text, begin), f"not so: {form.sign}"
        if form.name in ("cute", "array"):
            try:
                import_module(f"tmalab.inputs.{form.module}").read(text[:4000])
            except UnreadableError as error:
                place, why = position_of(text, error.offset), error.message
        failed.append(f"  {form.name} ({place}): {why}")
    last = "What is written otherwise can be said in one of them"
    message = "\n".join(["in no form that is known. Tried:", *failed, last])
    fix = 'as JSON it is {"dtype": "float16", "global_dim": [128, 16], "global_strides": [256], "box_dim": [64, 8]}'
    return UnreadableError(message, text=text, offset=begin, fix=fix)
