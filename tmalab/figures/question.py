"""A question that checks its answer: the reader works out a number, the page says whether it is right, and why.

    How many 128-byte lines …?  [   8 ] (Check)        Not yet: a hint.   Right: the reason.

No score is kept, and nothing leaves the page. Without JavaScript the answer stands behind a fold.
"""

from __future__ import annotations

from html import escape

from tmalab.figures.base import PageWidget
from tmalab.figures.bundle import esm
from tmalab.model.tensor_map_fields import integer


class Question(PageWidget):
    """`prompt` asks for an integer, `answer`; a wrong one brings up `hint`, the right one `why`.

    Give `answer` as the expression that computes it, and the question cannot go stale. Raises InputError for an
    answer that is not an integer.
    """

    name = "question"
    _esm = esm("question")

    def __init__(self, prompt: str, *, answer: int, hint: str, why: str):
        spec = {"title": prompt, "answer": integer("answer", answer), "hint": hint, "why": why}
        super().__init__(spec=spec)

    def fallback(self) -> str:
        """The question, and its answer behind a fold."""
        title, answer, why = (escape(str(self.spec[name])) for name in ("title", "answer", "why"))
        fold = f"<summary>Answer</summary>{answer}. {why}"
        return f'<p class="tma-ask">{title}</p>\n<details class="tma-ask">{fold}</details>'

    def __repr__(self) -> str:
        return f"Question({self.spec['title']!r})"
