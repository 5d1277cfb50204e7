"""A paper in claim files: each construct of the language by an example, and what is refused with file and line."""

import pytest

from bounds.language import operators
from bounds.language.claim import Condition
from bounds.registry.collection import PaperClaims, paper_claims

HEAD = """
[paper]
name = "demo"
title = "A title"
authors = "A. Author"
sections = ["one"]

[names]
"x[t]" = ["w_{t}", "model at time t"]
c_step = ["c", "a step", "positive", "parameter^2/loss"]
"slack[t]" = ["s_{t}", "what is missing", "nonnegative[length]"]
length = ["H", "how many", "integer from 2"]

[let]
"D(v)" = "norm2(v - x_star)"
"V[s]" = "E(D(x_sampled[s]))"
"mean(a)" = "E(a)"
small = "eta_l[t] <= 1/L for each t"
falling = "eta_l[t+1] <= eta_l[t] for t in 0..iterations-2"
schedule = ["small", "falling"]
basic = ["smooth", "mu >= 0"]

[quantities]
theta = ['\\theta', "a rate", "loss", "eq. (1)", "2*E(objective(x_sampled[1]))"]

[assumptions.smooth]
id = "assumption-1"
name = "every client is L-smooth"
conditions = ["L_client[k] <= L for each k"]
note = "as used"

[assumptions.smooth_as_printed]
id = "assumption-1@as-printed"
name = "smoothness as printed"
every_function = "f(v) <= f(u) + dot(u - v, f_grad(v)) + L/2*norm2(u - v)"

[axes.mask]
broadcast = {reading = "mask on the broadcast model"}
own = {reading = "mask on each client's own model", indicator = "local-at-aggregation"}

[axes.age]
now = {reading = "steps now"}
before = {reading = "steps before", let = {small = []}}
"""


def read(tmp_path, section: str, head: str = HEAD, **others: PaperClaims) -> PaperClaims:
    folder = tmp_path / "demo"
    folder.mkdir(exist_ok=True)
    (folder / "paper.toml").write_text(head, encoding="utf-8")
    (folder / "one.toml").write_text(section, encoding="utf-8")
    return paper_claims(folder, others.get)


def claims(tmp_path, section: str, head: str = HEAD) -> dict:
    return {claim.id.removeprefix("demo/"): claim for claim in read(tmp_path, section, head).claims()}


def claim(fields: str, name: str = "a") -> str:
    return f'[[claim]]\nid = "{name}"\n{fields}\n'


TRUE = claim('statement = "L >= mu"')


def both_sides(claims: dict, name: str = "a") -> tuple:
    return claims[name].statement.left, claims[name].statement.right


def test_the_paper_is_the_source_and_stands_in_front_of_ids_and_steps(tmp_path):
    found = claims(tmp_path, TRUE + claim('statement = "L >= 0"\nsteps = ["a"]', "b"))
    assert found["a"].source == "demo"
    assert found["b"].steps == ("demo/a",)


def test_a_claim_of_a_paper_may_name_its_own_source_or_derivation(tmp_path):
    found = claims(tmp_path, claim('source = "A book"\nstatement = "L >= mu"')
                   + claim('derivation = "by a\nb"\nstatement = "L >= mu"'.replace('"by a\nb"', '"""by a\n  b"""'), "b"))
    assert (found["a"].source, found["b"].source, found["b"].derivation) == ("A book", None, "by a b")


def test_abbreviations_have_arguments_and_indices_and_use_one_another(tmp_path):
    t, x, E, norm2 = operators.t, operators.x_sampled, operators.E, operators.norm2
    left, right = both_sides(claims(tmp_path, claim('statement = "V[t+1] <= mean(D(x_sampled[t])) for each t"')))
    assert left == E(norm2(x[t + 1] - operators.x_star))
    assert right == E(norm2(x[t] - operators.x_star))


def test_an_argument_may_be_an_abbreviation_or_an_array(tmp_path):
    let = '[let]\n"sum(f, a)" = "f(a[0]) + f(a[1])"\n'
    left, _ = both_sides(claims(tmp_path, let + claim('statement = "sum(D, x_sampled) <= L"')))
    assert left == sum(operators.norm2(operators.x_sampled[t] - operators.x_star) for t in (0, 1))


def test_names_of_arguments_hide_nothing_inside_other_abbreviations(tmp_path):
    let = '[let]\n"double(a)" = "2*a"\n"shifted(a)" = "double(a + 1)"\n'
    left, right = both_sides(claims(tmp_path, let + claim('statement = "shifted(L) <= double(mu)"')))
    assert (left, right) == (2 * (operators.L + 1), 2 * operators.mu)


def test_conditions_and_lists_are_written_out_in_place(tmp_path):
    found = claims(tmp_path, claim('conditions = ["schedule", "L >= mu"]\nassume = ["basic"]\nstatement = "L >= 0"'))["a"]
    assert [str(one.left) for one in found.conditions] == ["eta_l[t]", "eta_l[t + 1]", "L"]
    assert [one.id for one in found.assumptions] == ["demo/assumption-1", "demo/a:assumption-1"]


def test_conditions_have_arguments(tmp_path):
    let = '[let]\n"bounded(a, b)" = ["a <= b", "steps_to(b)"]\n"steps_to(h)" = "eta_l[t] <= h for each t"\n'
    found = claims(tmp_path, let + claim('conditions = ["bounded(mu, 2/(L + mu))"]\nstatement = "L >= 0"'))["a"]
    high = 2 / (operators.L + operators.mu)
    assert found.conditions == (Condition(operators.mu, "<=", high), Condition(
        operators.eta_l[operators.t], "<=", high, ((operators.t, 0, operators.iterations - 1),)))


def test_a_reading_gives_an_abbreviation_an_assumption_or_a_list_another_meaning(tmp_path):
    found = claims(tmp_path, claim("""
assume = ["smooth"]
conditions = ["schedule"]
statement = "V[t] <= L for each t"
[claim.readings.without]
reading = "without the expectation"
let = {"V[s]" = "D(x_sampled[s])"}
[claim.readings.printed]
reading = "as printed, steps may grow"
let = {smooth = "smooth_as_printed", falling = []}
"""))
    assert [*found] == ["a", "a@without", "a@printed"]
    assert both_sides(found, "a@without")[0] == operators.norm2(operators.x_sampled[operators.t] - operators.x_star)
    assert [one.id for one in found["a@printed"].assumptions] == ["demo/assumption-1@as-printed"]
    assert found["a@printed"].assumptions[0].for_all_functions is not None
    assert len(found["a@printed"].conditions) == 1
    assert found["a"].reading == "as printed"
    assert found["a@printed"].reading == "as printed, steps may grow"


def test_axes_vary_alone_combined_and_as_products(tmp_path):
    section = claim('conditions = ["schedule"]\nstatement = "L >= mu"\nvary = ["mask", "age", "own+before"]')
    found = claims(tmp_path, section)
    assert [*found] == ["a", "a@own", "a@before", "a@own+before"]
    assert found["a@own+before"].reading == "mask on each client's own model; steps before"
    assert found["a@own+before"].procedure.indicator == "local-at-aggregation"
    assert len(found["a@own+before"].conditions) == 1
    product = claims(tmp_path, section.replace('["mask", "age", "own+before"]', '["mask * age"]'))
    assert product.keys() == found.keys()
    for name, one in found.items():
        assert (product[name].reading, product[name].conditions) == (one.reading, one.conditions)


def test_a_claims_own_readings_multiply_with_an_axis(tmp_path):
    found = claims(tmp_path, claim('statement = "L >= mu"\nvary = ["readings * mask"]\n'
                                   '[claim.readings.twice]\nreading = "twice"\nstatement = "L >= 2*mu"'))
    assert [*found] == ["a", "a@own", "a@twice", "a@twice+own"]
    assert found["a@twice+own"].reading == "mask on each client's own model; twice"
    assert both_sides(found, "a@twice+own")[1] == 2 * operators.mu


def test_a_reading_with_an_id_of_its_own_multiplies_too(tmp_path):
    found = claims(tmp_path, claim('statement = "L >= mu"\nvary = ["readings * mask"]\n'
                                   'readings.twice = {id = "b", statement = "L >= 2*mu"}'))
    assert [*found] == ["a", "a@own", "b", "b@own"]


def test_a_reading_adds_conditions_and_variables(tmp_path):
    found = claims(tmp_path, claim('conditions = ["small"]\nvariables = ["c_step"]\nstatement = "L >= mu*c_step"\n'
                                   '[claim.readings.more]\nreading = "more"\nalso = ["falling"]\n'
                                   'variables = {n = "integer from 2"}\nstatement = "L >= n*c_step"'))
    assert [len(one.conditions) for one in found.values()] == [1, 2]
    assert [[v.name for v in one.variables] for one in found.values()] == [["c_step"], ["c_step", "n"]]


def test_a_claim_extends_one_above_it(tmp_path):
    found = claims(tmp_path, claim('kind = "lemma"\nconditions = ["small"]\nstatement = "f_of <= L"\nlet = {f_of = "mu"}\n'
                                   '[claim.readings.b]\nreading = "b"')
                   + claim('extends = "a"\nalso = ["falling"]\nlet = {f_of = "2*mu"}', "c"))
    assert [*found] == ["a", "a@b", "c"]
    assert (found["c"].kind, len(found["c"].conditions), both_sides(found, "c")[0]) == ("lemma", 2, 2 * operators.mu)


def test_given_conditions_expectations_on_the_past_of_a_round(tmp_path):
    section = claim('given = "r"\nstatement = "E(objective(x_round[r+1])) <= theta for each r"')
    left, _ = both_sides(claims(tmp_path, section))
    assert left == operators.E_round(operators.objective(operators.x_round[operators.r + 1]), operators.r)


def test_quantities_have_letters_units_and_sources(tmp_path):
    found = claims(tmp_path, claim('statement = "theta >= 0"'))["a"].definitions["theta"]
    assert (found.latex, found.meaning, found.unit, found.source) == (r"\theta", "a rate", "loss", "eq. (1)")
    assert found.formula == 2 * operators.E(operators.objective(operators.x_sampled[1]))


def test_names_have_letters_domains_and_units(tmp_path):
    paper = read(tmp_path, claim('variables = ["length", "slack", "c_step"]\nsetting = "algebra"\n'
                                 'statement = "slack[0] >= -c_step"'))
    assert [(v.name, v.domain, v.low, v.indices) for v in next(paper.claims()).variables] == [
        ("length", "integer", 2, ()), ("slack", "nonnegative", 1, (("t", "length"),)), ("c_step", "positive", 1, ())]
    assert paper.vocabulary.notations["x"].latex == "w_{<0>}"
    assert paper.vocabulary.units == {"c_step": "parameter^2/loss"}


def test_a_size_may_have_an_upper_end(tmp_path):
    found = claims(tmp_path, claim('variables = ["local_steps: integer to 1"]\nstatement = "L >= mu"'))["a"]
    assert [(v.name, v.high) for v in found.variables] == [("local_steps", 1)]
    with pytest.raises(ValueError, match="local_steps has a meaning already"):
        claims(tmp_path, claim('variables = ["local_steps: positive"]\nstatement = "L >= mu"'))


def test_each_sum_and_the_expectation_over_sampling(tmp_path):
    found = claims(tmp_path, claim('sampling = "with-replacement"\nstatement = """'
                                   'E(Sum(client_weight[k]*x_sampled[t], k), sampling) == x[t] for each t"""'))["a"]
    mean = operators.Sum(operators.client_weight[operators.k] * operators.x_sampled[operators.t],
                         (operators.k, 0, operators.clients - 1))
    assert found.statement.left == operators.E(mean, operators.sampling)
    assert found.statement.over == ((operators.t, 0, operators.iterations - 1),)


def test_a_reading_averages_over_everything_in_place_of_the_sampling(tmp_path):
    let = '[let]\n"over(a)" = "E(a, sampling)"\n'
    found = claims(tmp_path, let + claim('sampling = "with-replacement"\nstatement = "over(objective(x_sampled[t])) <= L"\n'
                                         'variables = ["t: integer"]\n[claim.readings.all]\nreading = "all"\n'
                                         'let = {"over(a)" = "E(a)"}'))
    gap = operators.objective(operators.x_sampled[operators.t])
    assert [one.statement.left.args[1:] for one in found.values()] == [(operators.sampling,), ()]
    assert all(one.statement.left.args[0].func == gap.func for one in found.values())


def test_claims_compare_bounds(tmp_path):
    found = claims(tmp_path, claim('statement = "objective(x_sampled[1]) <= L"')
                   + claim('statement = "objective(x_sampled[1]) <= 2*L*eta_g"\nvariables = ["eta_g: positive"]', "b")
                   + claim('conditions = ["eta_g >= 1"]\n[claim.compare]\nleft = "a"\nright = "b"', "c")
                   + claim('[claim.monotone]\nof = "b"\nin = "eta_g"', "d"))
    left, right = both_sides(found, "c")
    assert (left, right) == (operators.L, 2 * operators.L * next(s for s in right.free_symbols if s.name == "eta_g"))
    assert found["c"].compares == ("demo/a", "demo/b")
    assert found["d"].statement is not None


def test_prose_breaks_over_lines_anywhere(tmp_path):
    found = claims(tmp_path, claim('reading = """one\n  two"""\nnote = """three\nfour"""\nstatement = "L >= mu"'))["a"]
    assert (found.reading, found.note) == ("one two", "three four")


def test_uses_takes_what_another_paper_shares(tmp_path):
    other = read(tmp_path, TRUE)
    folder = tmp_path / "later"
    folder.mkdir()
    (folder / "paper.toml").write_text('[paper]\nuses = ["demo"]\nsections = ["one"]\n[names]\n'
                                       '"x[t]" = ["v_{t}", "mean at time t"]\n')
    (folder / "one.toml").write_text(claim('assume = ["basic"]\nconditions = ["schedule"]\nstatement = "V[1] <= theta"'))
    later = paper_claims(folder, {"demo": other}.get)
    found = next(later.claims())
    assert (found.id, found.source) == ("later/a", "later")
    assert [one.id for one in found.assumptions] == ["demo/assumption-1", "later/a:assumption-1"]
    assert later.vocabulary.notations["x"].latex == "v_{<0>}"


#: a section, or the head's end and a section: what is refused, in which line
REFUSED = {
    "unknown axis": (claim('statement = "L >= mu"\nvary = ["masks"]'), "line 4: no axis 'masks'; allowed: mask, age"),
    "value of two axes": ('[axes.second]\nnow = {}\nown = {}\n' + claim('statement = "L >= mu"\nvary = ["own+before"]'),
                          "one.toml, line 7: 'own' is a value of 2 axes"),
    "value of no axis": (claim('statement = "L >= mu"\nvary = ["own+after"]'),
                         "one.toml, line 4: 'after' is a value of 0 axes"),
    "contains itself": ('[let]\na_1 = "b_1 + 1"\nb_1 = "2*a_1"\n' + claim('statement = "L <= b_1"'),
                        "one.toml, line 6: .*the abbreviation b_1 contains itself"),
    "list that contains itself": ('[let]\na_1 = ["b_1"]\nb_1 = ["a_1"]\n' + claim(
        'conditions = ["a_1"]\nstatement = "L <= 1"'), "one.toml, line 6: the abbreviation a_1 contains itself"),
    "name of the language": ('[let]\nmu = "2"\n' + TRUE, "one.toml, line 2: mu has a meaning"),
    "name of the file": ('[let]\ntheta = "2"\n' + TRUE, "one.toml, line 2: theta has a meaning"),
    "name of the language in a reading": (claim('statement = "L >= mu"\nreadings.b.let = {mu = "3"}'),
                                          "one.toml, line 4: mu has a meaning already"),
    "too many arguments": (claim('statement = "D(L, mu) <= L"'), r"one.toml, line 3: .*D is written D\(v\); got D\(L, mu\)"),
    "no arguments": (claim('statement = "D <= L"'), r"one.toml, line 3: .*D is written D\(v\); got D"),
    "other brackets": (claim('statement = "V(1) <= L"'), r"one.toml, line 3: .*V is written V\[s\]; got V\(1\)"),
    "condition without its argument": ('[let]\n"c_1(h)" = "L <= h"\n' + claim('conditions = ["c_1"]\nstatement = "L <= 1"'),
                                       "one.toml, line 5: c_1 takes 1 argument"),
    "list in a formula": (claim('statement = "basic <= L"'), "one.toml, line 3: .*basic is a list"),
    "number in let": (claim('statement = "L >= mu"\nlet = {small = 3}'), "line 4: an abbreviation stands for a text"),
    "head of an abbreviation": ('[let]\n"2a" = "2"\n' + TRUE,
                                "one.toml, line 2: an abbreviation is called name, name"),
    "name without meaning": ('[names]\nq = ["Q"]\n' + TRUE,
                             r"one.toml, line 2: a name is \[letter, meaning\]"),
    "field of an axis": ('[axes.z]\none = {rading = "z"}\n' + TRUE,
                         "one.toml, line 2: unknown field 'rading' in the axis z, nearest: reading"),
    "field of a reading": (claim('statement = "L >= mu"\n[claim.readings.b]\nrading = "b"'), "unknown field 'rading'"),
    "formula of a reading": (claim('statement = "L >= mu"\n[claim.readings.b]\nreading = "b"\nstatement = "L >= mmu"'),
                             "one.toml, line 6: unknown symbol 'mmu'"),
    "field of an assumption": ('[assumptions.rough]\nid = "z"\nname = "z"\nconditons = []\n' + TRUE,
                               "one.toml, line 1: an assumption has an id and a name.*wrong or missing: conditons"),
    "unknown assumption": (claim('statement = "L >= mu"\nassume = ["smoth"]'), "one.toml, line 4: no assumption 'smoth'"),
    "extends nothing": (claim('extends = "b"'), "one.toml, line 3: extends the id of a claim above it; got 'b'"),
    "given the past of a step": (claim('statement = "L >= mu"\ngiven = "t"'), 'one.toml, line 4: given is "r"'),
    "no domain": (claim('statement = "L >= mu"\nvariables = ["zeta"]'), "one.toml, line 4: 'zeta' has no domain"),
    "compares nothing": (claim('[claim.compare]\nleft = "z"\nright = "z"'),
                         "one.toml, line 4: compare names a claim above it"),
}


@pytest.mark.parametrize("slip", REFUSED)
def test_a_slip_is_refused_in_one_line_with_file_and_line(slip, tmp_path):
    section, message = REFUSED[slip]
    with pytest.raises(ValueError, match=message) as error:
        claims(tmp_path, section)
    assert "\n" not in str(error.value)


def test_a_paper_has_no_unknown_entry_and_its_sections_exist(tmp_path):
    with pytest.raises(ValueError, match=r"paper\.toml: unknown entry 'titel'"):
        read(tmp_path, TRUE, HEAD.replace("title", "titel"))
    with pytest.raises(ValueError, match=r"two\.toml"):
        read(tmp_path, TRUE, HEAD.replace('["one"]', '["one", "two"]'))
