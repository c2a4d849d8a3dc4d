"""The checker: what a descriptor, a view, an operand or a layout in any input form is answered with; no numpy.

    check_text(text, options) -> Answer        check_json(text, options) -> str, for a page's worker

>>> check_text("Sw<3,4,3> o 0 o (8,64):(64,1)", {"dtype": "float16"}).facts["swizzle"]
'128B'
"""

from tmalab.checker.answer import Answer
from tmalab.checker.check import answers, check_json, check_text
from tmalab.checker.mapping import Note
from tmalab.checker.options import Options

__all__ = ["Answer", "Note", "Options", "answers", "check_json", "check_text"]
