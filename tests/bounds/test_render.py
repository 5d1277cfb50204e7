"""Rendering: examples by hand, the grammar of LaTeX, letters that do not clash, what `show` says, and the pages."""

import doctest
import itertools
import json
import re
from xml.etree import ElementTree

import pytest
import sympy as sp

from bounds.language.claim import Definition, names_in
from bounds.language.coordinates import highest
from bounds.language.definitions import chi, every_client
from bounds.language.functions import f, f_grad, u, v
from bounds.language.layers import share
from bounds.language.names import ARGUMENT, names_from
from bounds.language.notation import Notation, notation_of_definition, notation_text, plain
from bounds.language.operators import (
    E,
    G_sq,
    L,
    Max,
    Product,
    Sum,
    below,
    dot,
    eta_l,
    grad,
    i,
    iterations,
    j,
    k,
    local_steps,
    mu,
    norm,
    norm2,
    objective,
    priority,
    sampling,
    sigma_sq,
    step_offset,
    t,
    tau,
    x,
    x_local,
    x_sampled,
    x_star,
)
from bounds.printing import legend, options, pages, render
from bounds.printing.mathml import mathml
from bounds.printing.writer import LatexWriter
from bounds.registry.claims import all_claims, find_claim
from bounds.registry.papers import PAPERS, formula_of
from bounds.registry.user_claims import load_claims
from fedtheory.registry import ALGORITHMS, find_algorithm
from tests.bounds.each_claim import each_claim
from tests.not_empty import if_any, not_empty
from verify.report import pages as pages_program

CLAIMS = list(all_claims().values())

def fedalign(text):
    """The formula that a text writes with the names of FedALIGN."""
    return formula_of("fedalign", "theorems", text)


EXAMPLES = [
    (1 - mu * eta_l[t], "1 − μ η_t", r"1 - \mu \eta_{t}"),
    (2 / (mu * (t + step_offset)), "2/(μ (γ + t))", r"\frac{2}{\mu \left(\gamma + t\right)}"),
    (norm2(x[t + 1] - x_star), "‖w_{t+1} − w*‖²", r"\left\|w_{t + 1} - w^*\right\|^{2}"),
    (norm(x_star) ** 2, "‖w*‖²", r"\left\|w^*\right\|^{2}"),
    (norm2(x_star) ** 2, "(‖w*‖²)²", r"\left(\left\|w^*\right\|^{2}\right)^{2}"),
    (-2 * dot(x[t], grad(k, x_local[t, k])), "−2 ⟨w_t, ∇F_k(w_t^k)⟩",
     r"-2 \left\langle w_{t}, \nabla F_{k}\left(w_{t}^{k}\right)\right\rangle"),
    (E(objective(x_sampled[iterations])), "𝔼[F(w'_T)]", r"\mathbb{E}\left[F\left(w'_{T}\right)\right]"),
    (E(x_sampled[t], sampling), "𝔼_S[w'_t]", r"\mathbb{E}_{\mathcal{S}}\left[w'_{t}\right]"),
    (fedalign("over_priority(client_weight[k])"), "Σ_{k∈P} p_k", r"\sum_{k \in \mathcal{P}} p_{k}"),
    (fedalign("over_free(aggregate_weight[t, k]*(F(k, x[t]) - F_star_client[k]))"), "Σ_{k∉P} π_{t,k} (F_k(w_t) − F_k*)",
     r"\sum_{k \notin \mathcal{P}} \pi_{t,k} \left(F_{k}\left(w_{t}\right) - F_{k}^*\right)"),
    (Sum(priority[k], every_client), "Σ_{k∈P} 1", r"\sum_{k \in \mathcal{P}} 1"),
    (fedalign("Sum(included[t, k]*weight[t, k]**2, k)"), "Σ_{k=0}^{N−1} (p'_{t,k})² I_{k,τ(t)}",
     r"\sum_{k=0}^{N - 1} \left(p'_{t,k}\right)^{2} I_{k,\tau(t)}"),
    (Sum(E(chi[i]), (i, 1, iterations - 1)) / (iterations + step_offset - 2), "1/(T + γ − 2) · Σ_{i=1}^{T−1} 𝔼[χ_i]",
     r"\frac{1}{T + \gamma - 2} \sum_{i=1}^{T - 1} \mathbb{E}\left[\chi_{i}\right]"),
    (Product(1 - 2 / (j + step_offset), (j, 0, 3)), "Π_{j=0}^{3} (1 − 2/(j + γ))",
     r"\prod_{j=0}^{3} \left(1 - \frac{2}{j + \gamma}\right)"),
    (Max(8 * L / mu, local_steps), "max{8 L/μ, E}", r"\max\left\{\frac{8 L}{\mu}, E\right\}"),
    (2 * L / mu**2 * (sigma_sq + 8 * (local_steps - 1) ** 2 * G_sq), "2 L/μ² · (8 (E − 1)² G² + σ²)",
     r"\frac{2 L}{\mu^{2}} \left(8 \left(E - 1\right)^{2} G^2 + \sigma^2\right)"),
    (G_sq**2, "(G²)²", r"\left(G^2\right)^{2}"),
    (L / 2 * norm2(x[0] - x_star), "L/2 · ‖w_0 − w*‖²", r"\frac{L}{2} \left\|w_{0} - w^*\right\|^{2}"),
    (eta_l[tau(t)], "η_{τ(t)}", r"\eta_{\tau(t)}"),
    (sp.Rational(-3, 4), "−3/4", r"-\frac{3}{4}"),
    (fedalign("proof_A4[t+1] + theta_hat"), "θ̂_T + A_{4,t+1}", r"\hat\theta_T + A_{4,t + 1}"),
    (fedalign("x_before[t, k] - priority_models[t]"), "v_t^k − w̄^P_t", r"v_{t}^{k} - \bar w^{\mathcal{P}}_{t}"),
    (f(u) + dot(u - v, f_grad(v)), "⟨u − v, ∇f(v)⟩ + f(u)",
     r"\left\langle u - v, \nabla f(v)\right\rangle + f(u)"),
]


@pytest.mark.parametrize(("expression", "text", "tex"), EXAMPLES, ids=[e[1] for e in EXAMPLES])
def test_examples(expression, text, tex):
    assert render.unicode(expression) == text
    assert render.latex(expression) == tex


@pytest.mark.parametrize(("expression", "text"), [
    (norm2(x[t + 1] - x_star), "‖x[t+1] − x_star‖²"),
    (fedalign("over_priority(client_weight[k])"), "Σ_{k=0}^{clients−1} client_weight[k] priority[k]"),
    (fedalign("theta_hat"), "theta_hat"),
])
def test_code_names(expression, text):
    assert render.unicode(expression, "code") == text


@pytest.mark.parametrize(("tex", "text"), [
    (r"\hat\theta_{T}", "θ̂_T"), (r"\bar B_{t}", "B̄_t"), (r"\tilde{w}", "w̃"), (r"F_{k}^*", "F_k*"), ("G^2", "G²"),
    (r"\Gamma_{\max}", "Γ_{max}"), (r"\mathbf{1}_{k\in\mathcal{P}}", "1_{k∈P}"), (r"\bar g_t", "ḡ_t"),
])
def test_letters_as_text(tex, text):
    assert plain(tex) == text


WRITTEN: set = set()


@each_claim(CLAIMS)
def test_latex_is_well_formed(claim):
    for letters in (render.letters_of(claim), "code"):
        for formula in if_any(claim.formulas):
            case = (formula, letters if letters == "code" else claim.paper)
            if case not in WRITTEN:
                assert mathml(render.latex(formula, letters)).startswith("<math")
                WRITTEN.add(case)


@pytest.mark.parametrize("written, letter", [
    (r"\mathcal{E}_{r,k}", r"\mathcal{E}_{<0>,<1>}"),
    (r"\nabla f_{k}(\gamma_{r,k})", r"\nabla f_{k}(\gamma_{<0>,<1>})"),
    (r"a_r", r"a_{<0>}"),
])
def test_letters_of_quantities_have_places_for_indices(written, letter):
    indices = sp.symbols("r k")[:1 if written == "a_r" else 2]
    assert notation_of_definition(Definition("a", indices, sp.Integer(1), written, "", "")).latex == letter


#: the same thing under two names: one average where nobody is sampled, and the squared distance of the start
SAME = [{"x", "x_sampled"}]


@each_claim(CLAIMS)
def test_letters_are_distinct_within_a_claim(claim):
    letters = render.letters_of(claim)
    formulas = claim.formulas
    names = {n for e in formulas for n in names_in(e)} - {"i", "j", "k", "t", "sampling"}
    ranks = [(str(a.base.label), len(a.indices)) for e in formulas for a in e.atoms(sp.Indexed)]
    indices = {n: ("t", "k")[: max((rank for name, rank in ranks if name == n), default=0)] for n in names}
    typeset: dict[str, set[str]] = {}
    for name in names:
        typeset.setdefault(notation_text(name, indices[name], letters), set()).add(name)
    assert [same for same in if_any(typeset.values()) if len(same) > 1 and same not in SAME] == []


@each_claim(CLAIMS)
def test_show_tells_everything(claim):
    method = find_algorithm(claim.procedure.base) if claim.procedure else None
    text = " ".join(render.show(claim, method=method).split())
    for part in (claim.id, claim.kind, claim.number, claim.reading, claim.note, claim.undefined, claim.derivation):
        assert " ".join(part.split()) in text
    for assumption in claim.assumptions:
        assert assumption.id in text
    for variable in claim.variables:
        if variable.domain == "integer" and variable.low == variable.high:
            assert f" = {variable.low} " in text and f"; always {variable.low}" in text
            continue
        ends = [("to", variable.high), ("below", variable.below)]
        assert f" {variable.domain}" in text and all(f"{word} {end}" in text for word, end in ends if end is not None)
    if claim.setting == "run":
        weights = claim.procedure is not None and claim.procedure.equal_weights
        assert ("clients of equal weight" if weights else "clients of any weights") in text
    if not claim.explicit:
        assert len(claim.limits) <= text.count("→") and (claim.constants_may_use is None or "they " in text)
    for name, value in (claim.procedure.options if claim.setting == "run" else ()):
        if name in options.option_values(claim, method) and name != "schedule":
            words = options.WORDS.get((name, value))
            assert f"{words} ({name} = {value})" in text if isinstance(value, str) else f"= {value:g}" in text, (name, value)
    told = {symbol.name: symbol for symbol in legend.symbols(claim, render.letters_of(claim), method)}
    sides = (claim.statement.left, claim.statement.right) if claim.statement else ()
    for name in {n for side in sides for n in names_in(side)} - {*names_from(ARGUMENT), *claim.used_definitions()}:
        assert told[name].origin and f" = {name}: " in text, name


LETTERS_OF_PAPERS = sorted({
    (letter.latex, letter.indices) for paper in PAPERS for letter in render.notation(paper).values()
} | {
    (notation_of_definition(d).latex, notation_of_definition(d).indices) for claim in CLAIMS
    for d in claim.definitions.values()
})


def is_sum(text: str) -> bool:
    """Whether a text has a sign outside all parentheses and scripts."""
    depth = 0
    for before, sign in itertools.pairwise(f" {text}"):
        depth += (sign in "({[⟨") - (sign in ")}]⟩")
        if depth == 0 and sign in "+-−" and before not in "_^":
            return True
    return False


def test_letters_that_are_sums_stand_in_parentheses():
    p, e = sp.symbols("p e")
    sums = [(tex, indices) for tex, indices in LETTERS_OF_PAPERS if is_sum(tex)]
    assert (r"f(\bar\theta^1) - f^\star", "") in sums
    for tex, indices in [*sums, ("a + b", ""), ("a_{<0>} - b_{<0>}", "k")]:
        q = sp.IndexedBase("q", real=True)[tuple(map(sp.Symbol, indices))] if indices else sp.Symbol("q", positive=True)
        wide, narrow = ({"q": Notation(latex, "any", indices), "p": Notation("p", "any")} for latex in (tex, "Z"))
        written = notation_text("q", tuple(indices), wide)
        for expression in (p * q, q**2, p - q, p * q**2 / e, (1 - p) * q):
            text, latex = render.unicode(expression, narrow), render.latex(expression, narrow)
            assert render.unicode(expression, wide) == text.replace("Z", f"({plain(written)})")
            assert render.latex(expression, wide) == latex.replace("Z", rf"\left({written}\right)")
            marks = [m.text for m in ElementTree.fromstring(mathml(render.latex(expression, wide))).iter() if m.text]
            assert "(" in "".join(marks)
        assert render.unicode(p / q, wide) == f"p/({plain(written)})"


@pytest.mark.parametrize(("tex", "text"), [
    ("a - b", "p (a − b), (a − b)², p − (a − b), p/(a − b)"), (r"f(\theta) - f^\star", "p (f(θ) − f*), (f(θ) − f*)², "
     "p − (f(θ) − f*), p/(f(θ) − f*)"), ("KT", "p KT, (KT)², p − KT, p/(KT)"), ("V_{t-1}", "p V_{t−1}, V_{t−1}², "
     "p − V_{t−1}, p/V_{t−1}"),
])
def test_letters_of_several_signs(tex, text):
    letters, p, q = {"q": Notation(tex, "any"), "p": Notation("p", "any")}, sp.Symbol("p"), sp.Symbol("q", positive=True)
    assert ", ".join(render.unicode(e, letters) for e in (p * q, q**2, p - q, p / q)) == text


@pytest.mark.parametrize(("expression", "text"), [
    (share(L, mu) ** 2, "((L)/(μ))²"), (highest(i, 0, 3, L - mu), "max_{0≤i≤3} (L − μ)"),
    (sp.sqrt(sigma_sq), "σ"), (sigma_sq ** sp.Rational(3, 2), "σ³"), (1 / sp.sqrt(sigma_sq), "1/σ"),
    (E(below(L, mu)), "𝔼[1[L ≤ μ]]"),  # FedALIGN has a number called below
])
def test_words_and_roots_hold_together(expression, text):
    assert render.unicode(expression) == text


#: words that formulas may have, and those that letters have as subscripts
WORDS = {"max", "min", "sup", "exp", "log", "for"}
SUBSCRIPTS = {"max", "min", "gen", "sam", "tot", "end"}


@each_claim(CLAIMS)
def test_formulas_have_letters_and_no_names_of_the_code(claim):
    letters = render.letters_of(claim)
    conditions = [*claim.conditions, *(c for a in claim.assumptions for c in render.printed(a))]
    texts = [render.condition_text(c, letters) for c in [*conditions, *([claim.statement] if claim.statement else [])]]
    texts += [render._variable(v, letters).partition(":")[0] for v in claim.variables]
    texts += [f"{render._name(d.name, tuple(map(str, d.indices)), letters)} = {render.unicode(d.formula, letters)}"
              for d in claim.used_definitions().values()]
    for text in if_any(texts):
        assert "\\" not in text and "<" not in text.replace(" < ", " "), text  # strict relations are the only ones
        assert set(re.findall(r"[_^]\{?([A-Za-z]{3,})", text)) <= SUBSCRIPTS | WORDS, text
        assert set(re.findall(r"[A-Za-z]{3,}", text)) <= SUBSCRIPTS | WORDS, text
        assert re.findall(r"[A-Za-z]_[A-Za-z]{2,}|[a-z]\d", text) == [], text


def test_hypotheses_that_say_nothing_in_these_letters_are_left_out():
    text = render.show(find_claim("fedmoswa/theorem-5.1-strongly-convex-fedswa"))
    assert "‖∇f(u)‖² ≤ L²" in text and "L² = L²" not in text and "σ = σ" not in text


@pytest.mark.parametrize(("row", "text"), [
    ({}, "𝔼[‖x^{(T)} − x*‖²] ≤ ‖x^{(0)} − x*‖² (1 − μ/(2 L))^(T)"),
    ({"method": "fedmoswa"}, "𝔼[‖θ^T − θ*‖²] ≤ ‖θ^0 − θ*‖² (1 − μ/(2 β))^(T)"),
], ids=["textbook", "paper of the method"])
def test_claims_of_ones_own_have_letters(tmp_path, row, text):
    path = tmp_path / "mine.toml"
    statement = "E(norm2(x_round[rounds] - x_star)) <= (1 - mu/(2*L))**rounds*norm2(x_round[0] - x_star)"
    fields = {"id": "mine/theorem-1", "statement": statement} | row
    path.write_text("\n".join(["[[claim]]", *(f"{name} = {json.dumps(text)}" for name, text in fields.items())]))
    shown = render.show(load_claims(path)[0])
    assert text in shown and shown.startswith("mine/theorem-1   (theorem)\n")


def test_averages_have_two_letters_only_where_clients_are_sampled():
    assert "𝔼[F(w_T)] − F*" in render.show(find_claim("fedalign/theorem-1"))
    assert "𝔼[F(w'_T)] − F*" in render.show(find_claim("fedalign/theorem-A9"))


def test_show_in_code_names():
    text = render.show(find_claim("fedalign/lemma-A4"), "code")
    assert "𝔼[drift[t]] ≤ 4 eta_l[t]² (local_steps − 1)² G_sq   for t = 0, …, iterations − 1" in text


def test_ranges_of_indices():
    condition = find_claim("fedalign/lemma-A7").statement
    assert render.condition_text(condition).endswith("for t = T")
    both = find_claim("fedalign/lemma-A2").statement
    assert render.condition_latex(both).endswith(
        r"\quad \text{for }t = 0, \ldots, T - 1,\; k = 0, \ldots, N - 1"
    )


def test_unknown_word_is_refused():
    with pytest.raises(TypeError, match=r"sin\(mu\)"):
        LatexWriter(None).text(sp.sin(mu))


def test_unknown_paper_is_refused():
    with pytest.raises(LookupError, match=f"'adam'; allowed: {', '.join(PAPERS)}"):
        render.notation("adam")


def test_unknown_letters_are_refused():
    with pytest.raises(ValueError, match=r"letters .*'paper' .*'code'; got 'greek'"):
        render.show(find_claim("fedalign/theorem-1"), "greek")


@pytest.mark.parametrize("paper", PAPERS)
def test_notation_has_no_leftovers(paper):
    for name, letter in not_empty(render.notation(paper).items()):
        assert "<" not in notation_text(name, tuple(letter.indices), render.notation(paper)), name
        assert letter.meaning


# the pages ---------------------------------------------------------------------------------------------------------------
def test_a_page_has_what_its_claims_rest_on(tmp_path):
    assert pages_program.main([str(tmp_path), "li2020"]) == 0
    text, methods = ((tmp_path / name).read_text(encoding="utf-8") for name in ("papers/li2020.md", "algorithms.md"))
    assert "| `client_weight` |" in text and "| `free_clients` |" not in text  # FedALIGN's letters, and no free clients
    claims = [claim for claim in CLAIMS if claim.paper == "li2020"]
    for name in {name for claim in claims for name in claim.used_definitions()}:
        assert text.count(f"\n- `{name}`: $") == 1, name
    for assumption in {a.id for claim in claims for a in claim.assumptions}:
        assert text.count(f"\n- `{assumption}`: ") == 1, assumption
    for base in {claim.procedure.base for claim in claims if claim.procedure}:
        assert f"| [`{base}`](../algorithms.md#{base}) |" in text and f"\n## {base}\n" in methods
    for claim in claims:
        own = text.partition(f"### `{claim.id}`\n")[2].partition("\n### ")[0]
        for condition in render.printable_conditions(claim.conditions, render.letters_of(claim)):
            assert f"${render.condition_latex(condition, render.letters_of(claim))}$" in own, claim.id
    assert methods.count("```") % 2 == 0
    assert all(f"`{i}`" in methods for method in ALGORITHMS.values() for i in method.ids)


@pytest.mark.parametrize("paper", sorted({*PAPERS} - {"li2020"}))
def test_every_paper_has_a_page(paper, monkeypatch):
    """The claims themselves are left out: each has been shown above."""
    monkeypatch.setattr(pages, "_claim", lambda claim, methods: [claim.id, ""])
    text = pages.page(paper, find_algorithm)
    assert all(f"\n{claim.id}\n" in text for claim in CLAIMS if claim.paper == paper)
    assert "\n## Letters\n" in text and "\n## Algorithms\n" in text


@pytest.mark.parametrize("arguments", [[], ["DIRECTORY", "adam"]])
def test_the_program_of_pages_refuses(arguments, capsys):
    assert pages_program.main(arguments) == 2
    assert "li2020" in capsys.readouterr().err


def test_docstring_examples():
    assert doctest.testmod(render).failed == 0
