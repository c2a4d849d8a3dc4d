"""The page of all rules, made from the rules themselves each time the book is built.

    ```{tma-rules}      ──▶  a section a group, and in it one a rule: its text, its source, an example that breaks it,
    :checker: check          what the checker says of that, and a link that opens the example in the checker
    ```

>>> [group.title for group in groups()][:3]
['Every tensor map', 'Tiled maps', 'Im2col maps']

A rule's section is `rules.html#rule-ID`; from a chapter, {ref}`rule-id-in-lower-case`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from tmalab.checker.barrier_rules import BARRIER_RULES
from tmalab.checker.explain import CHECKER_RULES, RulePage, rule_page
from tmalab.checker.rule_examples import Example
from tmalab.errors import short_repr
from tmalab.model.launch_rules import BULK_COPY_RULES, LAUNCH_RULES, LAUNCH_WARNINGS
from tmalab.model.rules import ALLOCATION_WARNINGS, MODE_RULES, WARNINGS, architectures, box, im2col, shared, tiled
from tmalab.model.rules.rule import Rule, rules_in
from tmalab.sphinxext.python_worker import worker_modules


class Group(NamedTuple):
    """A section of the page: rules of one kind, and what they have in common."""

    title: str
    text: str
    rules: tuple[str, ...]


def groups() -> list[Group]:
    """All rules, each in one group: a rule that warns of a descriptor and faults at the launch is with the faults."""
    launch = _ids(LAUNCH_RULES)
    unwise = [rule for rule in _ids((*WARNINGS, *ALLOCATION_WARNINGS, *LAUNCH_WARNINGS)) if rule not in launch]
    modes = ("load_mode_needs_sm100", *_ids(MODE_RULES))
    others = [rule for rule in CHECKER_RULES if rule not in (*modes, *BARRIER_RULES)]
    return [
        Group("Every tensor map", "The driver refuses to encode it: address, extents, strides, fill.", _of(shared)),
        Group("Tiled maps", "The driver refuses it: rank and box.", _of(tiled)),
        Group("Im2col maps", "The driver refuses it: rank, counts and corners.", _of(im2col)),
        Group("The box", "The driver refuses it: a row of the box, and the whole of it.", _of(box)),
        Group("Architectures", "What sm_90 lacks, and what sm_100 and sm_120 ask.", _of(architectures)),
        Group("Load modes of sm_100", "Read in the manuals; none of it was measured.", modes),
        Group(
            "At the launch",
            "The driver encodes the map, and the engine then refuses the copy. The kernel ends with the error that is "
            "named, or hangs where its barrier waits for the bytes.",
            launch,
        ),
        Group("Copies without a tensor map", "cp.async.bulk takes plain addresses.", _ids(BULK_COPY_RULES)),
        Group("Legal, but unwise", "Nothing is refused. Look again all the same.", tuple(unwise)),
        Group("Views, layouts and use", "What the checker says beside the rules of a map.", tuple(others)),
        Group(
            "Barrier programs",
            "Loads, stores, barriers and fences as a list of events: what hangs, and what races.",
            tuple(BARRIER_RULES),
        ),
    ]  # fmt: skip


def _ids(rules: Iterable[Rule]) -> tuple[str, ...]:
    return tuple(rule.id for rule in rules)


def _of(module: ModuleType) -> tuple[str, ...]:
    return _ids(rules_in(module))


class RulesDirective(SphinxDirective):
    """`{tma-rules}`: the sections. Its option `checker` names the page to which examples are linked."""

    option_spec: ClassVar[dict[str, Any]] = {"checker": str}

    def run(self) -> list[nodes.Node]:
        """The sections, made anew when the source of a rule changes."""
        for path in (*worker_modules().values(), sys.modules[__name__].__file__):
            self.env.note_dependency(str(path))
        return [self._group(group) for group in groups()]

    def _group(self, group: Group) -> nodes.section:
        section = nodes.section("", nodes.title("", group.title), ids=[nodes.make_id(group.title)])
        section += nodes.paragraph("", group.text)
        section += [self._rule(rule_page(rule)) for rule in group.rules]
        return section

    def _rule(self, page: RulePage) -> nodes.section:
        name = f"rule-{page.id}"
        section = nodes.section("", nodes.title("", page.title), ids=[name], names=[name.lower()], classes=["tma-rule"])
        self.state.document.note_explicit_target(section)
        section += nodes.paragraph("", "", nodes.literal("", page.id), classes=["tma-rule-id"])
        section += nodes.paragraph("", "", *_inline(page.text))
        if page.example is not None:
            section += nodes.container("", *self._example(page.example), classes=["tma-rule-example"])
        section += _facts(page)
        return section

    def _example(self, shown: Example) -> Iterator[nodes.Node]:
        language = "json" if shown.text.startswith("{") else "text"
        code = nodes.literal_block(shown.text, shown.text, language=language)
        yield code
        yield nodes.paragraph("", "", *_inline(shown.message))
        if shown.fix:
            yield nodes.paragraph("", "", nodes.strong("", "Fix: "), *_inline(shown.fix))
        if "checker" in self.options:
            page_uri = self.env.app.builder.get_relative_uri(self.env.docname, self._checker())
            uri = f"{page_uri}#text={quote(shown.text, safe='')}"
            yield nodes.paragraph("", "", nodes.reference("", "Try it in the checker", refuri=uri, internal=True))

    def _checker(self) -> str:
        return self.env.relfn2path(self.options["checker"] + ".md")[0].removesuffix(".md")


def _facts(page: RulePage) -> nodes.field_list:
    facts = list(page.facts)
    if page.example is not None and page.example.limit is not None:
        limit = short_repr(page.example.limit).strip("'")
        facts.insert(0, ("Limit", f"{limit} for `{page.example.field}`"))
    fields = (
        nodes.field("", nodes.field_name("", name), nodes.field_body("", nodes.paragraph("", "", *_inline(value))))
        for name, value in facts
    )
    return nodes.field_list("", *fields)


def _inline(text: str) -> list[nodes.Node]:
    """A text whose `words` between backticks are code."""
    parts = re.split(r"`([^`]+)`", text)
    return [nodes.literal("", part) if index % 2 else nodes.Text(part) for index, part in enumerate(parts) if part]
