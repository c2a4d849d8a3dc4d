"""What the page shows of an answer: the command line's JSON, every finding in it, and never a tag of the reader's."""

import json
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tmalab.checker import check_text
from tmalab.checker.explain import rule_ids
from tmalab.checker.markup import breakable, join, tag
from tmalab.checker.page import answer_html, headline, page_answer
from tmalab.checker.rule_examples import example_text

MAP = {"dtype": "float16", "global_dim": [128, 16], "global_strides": [256], "box_dim": [64, 8], "swizzle": "128B"}
TAGS = {
    "a", "b", "caption", "code", "details", "div", "li", "p", "pre", "summary", "table", "tbody", "td", "th", "thead",
    "tr", "ul", "wbr",
}  # fmt: skip
ATTRIBUTES = {
    "class", "data-column", "data-line", "data-name", "data-verdict", "href", "open", "scope", "tabindex",
}  # fmt: skip


class Page(HTMLParser):
    """Tags, attributes, links and text of some HTML; whether every tag that opens is closed."""

    def __init__(self, html: str):
        super().__init__()
        self.tags, self.attributes, self.links, self.words, self.open = set(), set(), [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    @property
    def text(self) -> str:
        return "".join(self.words)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name == "href"]
        if tag != "wbr":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def ask(said, options="{}") -> tuple[dict, Page]:
    made = json.loads(page_answer(said if isinstance(said, str) else json.dumps(said), options))
    return made["answer"], Page(made["html"])


@pytest.mark.parametrize("rule_id", rule_ids())
def test_each_rule_is_shown_with_all_that_is_known_of_it_and_leads_to_its_section(rule_id):
    answer, page = ask(example_text(rule_id))
    assert answer == check_text(example_text(rule_id)).to_dict()
    assert f"rules.html#rule-{rule_id}" in page.links
    for violation in (*answer["violations"], *answer["faults"], *answer["warnings"]):
        for field in ("rule", "field", "message", "fix", "source"):
            assert violation[field] in page.text
        assert violation.get("cuda_error", "") in page.text
    for note in answer["notes"]:
        assert note["message"] in page.text


def test_warnings_stand_apart_from_what_is_broken():
    _, page = ask(MAP | {"box_dim": [96, 8], "address": 0})
    assert page.text.index("The driver refuses it") < page.text.index("box_inner_le_swizzle_span")
    assert page.text.index("box_inner_le_swizzle_span") < page.text.index("Legal, but unwise")
    assert page.text.index("Legal, but unwise") < page.text.index("null_global_address")


def test_a_legal_map_shows_its_sizes_and_its_host_code():
    _, page = ask(MAP)
    for words in ("Legal on sm_90", "transaction_bytes1024", "footprint_bytes1024", "cuTensorMapEncodeTiled("):
        assert words in page.text
    assert "Host code" not in ask(MAP | {"box_dim": [96, 8]})[1].text


def test_the_architecture_is_an_option():
    packed = {"dtype": "16u4_align8b", "global_dim": [256, 128], "global_strides": [128], "box_dim": [128, 64]}
    assert ask(packed)[0]["legal"] is False
    answer, page = ask(packed, '{"arch": "sm_100"}')
    assert answer["legal"] is True
    assert "Legal on sm_100" in page.text


def test_what_cannot_be_read_is_shown_at_its_place():
    answer, page = ask('{"dtype": "float16",\n\t"global_dim": [128, x]}')
    assert (answer["error"]["line"], answer["error"]["column"]) == (2, 22)
    assert "Unreadable as JSON: line 2, column 22" in page.text
    shown, mark = page.text.split("2 │ ")[1].split("\n")
    assert shown[mark.index("▲") - 4] == "x"


def test_what_is_missing_is_named():
    page = ask('{"dtype": "float16", "global_dim": [128, 16], "box_dim": [64, 8]}')[1]
    assert "global_strides: missing." in page.text
    assert "Fix: give the bytes from one row to the next" in page.text


def test_a_text_in_no_form_is_told_what_was_tried():
    page = ask("hello world")[1]
    assert "In no form that is known. Tried:" in page.text
    for form in ("json (line 1, column 1)", "cutlass", "cpp", "array"):
        assert form in page.text


def test_a_long_line_is_cut_around_the_place():
    page = ask('{"global_dim": [' + "1, " * 5000 + "x]}")[1]
    assert "…" in page.text
    assert len(page.text) < 1000


def test_a_batch_shows_each_of_its_answers_and_stops_where_a_page_is_no_help():
    answer, page = ask("\n".join(json.dumps(MAP) for _ in range(80)))
    assert len(answer["parts"]) == 80
    assert "80 asked: 80 legal" in page.text
    assert "50. Line 50: Legal on sm_90" in page.text
    assert "51. Line 51" not in page.text
    assert "… and 30 more" in page.text


TEXTS = st.one_of(
    st.text(max_size=200),
    st.text("<>&\"'/=script imgonerr0123{}[],:", max_size=100),
    st.dictionaries(st.sampled_from([*MAP, "address", "<b>"]), st.one_of(st.text(max_size=30), st.integers())).map(
        lambda changed: json.dumps(MAP | changed)
    ),
)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
@example("<script>alert(1)</script>")
@example(json.dumps(MAP | {"swizzle": '"><img src=x onerror=alert(1)>'}))
@example(json.dumps(MAP | {"dtype": "</pre><script>alert(1)</script>"}))
@example(json.dumps({"<script>": 1}))
def test_no_text_becomes_markup(text):
    _, page = ask(text)
    assert page.tags <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert all(link.startswith("rules.html#rule-") for link in page.links)


def test_every_verdict_has_a_headline():
    for rule_id in rule_ids():
        answer = check_text(example_text(rule_id))
        assert headline(answer)
        assert headline(answer) in Page(answer_html(answer)).text


def test_a_child_is_text_unless_it_is_markup():
    assert tag("p", "a<b", tag("b", "&")) == "<p>a&lt;b<b>&amp;</b></p>"
    assert tag("a", None, href='"x"', title=None) == '<a href="&quot;x&quot;"></a>'
    assert join(["<", breakable("a_b<")]) == "&lt;a_<wbr>b&lt;"


def test_the_architecture_that_the_page_always_has_contradicts_no_text():
    said = {"dtype": "float16", "global_dim": [64], "box_dim": [64], "arch": "sm_100"}
    made = json.loads(page_answer(json.dumps(said), '{"arch": "sm_90"}'))
    assert (made["answer"]["verdict"], made["answer"]["arch"]) == ("accept", "sm_100")
