"""The page of all rules in the built book: a section for every rule there is, saying what `--explain` says."""

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from tmalab.checker.explain import explain, rule_ids, rule_page
from tmalab.model.launch_rules import BULK_COPY_RULES, LAUNCH_RULES, LAUNCH_WARNINGS
from tmalab.model.rules import ALLOCATION_WARNINGS, MODE_RULES, RULES, WARNINGS
from tmalab.sphinxext.rules_page import groups

REGISTRIES = (RULES, MODE_RULES, WARNINGS, ALLOCATION_WARNINGS, LAUNCH_RULES, LAUNCH_WARNINGS, BULK_COPY_RULES)


class _Sections(HTMLParser):
    """The text and the links of each section with an id, those within it included."""

    def __init__(self, html: str):
        super().__init__()
        self.texts, self.links, self.open = {}, {}, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        said = dict(attrs)
        if tag == "section":
            self.open.append(said.get("id", ""))
            self.texts[self.open[-1]], self.links[self.open[-1]] = [], []
        for name in self.open if tag == "a" else ():
            self.links[name].append(said.get("href", ""))

    def handle_endtag(self, tag):
        if tag == "section":
            self.open.pop()

    def handle_data(self, data):
        for name in self.open:
            self.texts[name].append(data)


@pytest.fixture(scope="module")
def sections(book) -> _Sections:
    return _Sections((book / "chapters" / "rules.html").read_text("utf8"))


def plain(text: str) -> str:
    """`text` as it is read: quotation marks that Sphinx made round are straight again, and code bears no marks."""
    straight = text.translate(str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "`": None, "¶": None}))
    return " ".join(straight.split())


def test_every_rule_of_every_registry_is_in_one_group():
    listed = [rule for group in groups() for rule in group.rules]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(rule_ids())
    assert {rule.id for registry in REGISTRIES for rule in registry} <= set(listed)


@pytest.mark.parametrize("rule_id", rule_ids())
def test_a_rule_has_its_section_with_all_that_explain_says(sections, rule_id):
    page, text = rule_page(rule_id), plain("".join(sections.texts[f"rule-{rule_id}"]))
    assert page.example is not None
    shown = [rule_id, page.title, page.text, page.example.text, page.example.message, page.example.fix or ""]
    explained = plain(explain(rule_id))
    for said in (*shown, *(value for _, value in page.facts)):
        assert plain(said) in text
        assert plain(said) in explained


@pytest.mark.parametrize("rule_id", rule_ids())
def test_an_example_leads_to_the_checker_with_its_text(sections, rule_id):
    [link] = [link for link in sections.links[f"rule-{rule_id}"] if link.startswith("check.html")]
    parts = urlsplit(link)
    assert parts.query == ""  # what is asked is never sent
    assert unquote(parts.fragment) == "text=" + rule_page(rule_id).example.text
