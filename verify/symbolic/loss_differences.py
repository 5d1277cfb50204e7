"""Gaps between the losses of two models on neighbouring data sets, as amounts that lengths bound."""

from fractions import Fraction

from verify.checker.quadratic_forms import NotQuadratic
from verify.symbolic.norm_expressions import SIGNED, NormExpression

GAPS = ("worst_mean_gap", "worst_mean_signed_gap", "worst_pair_gap", "worst_sample_gap")


class LossDifferences:
    """Facts about loss differences in coupled runs."""

    def apart(self):
        """Decide what a gap stands for: where only the smaller side of the statement has gaps, for that of any sample and
        any two data sets, else for the supremum. An error over all data is not compared with lengths that have the data
        given."""
        statement, smaller = self.stated["statement"], {"<": "left", ">": "right"}
        side = smaller.get(statement["relation"][0])
        others = [rule[end] for rule in (*self.hypotheses, statement) for end in ("left", "right")
                  if rule is not statement or end != side]
        self.each_gap = not {*GAPS} & set().union(*map(self.heads, others))
        heads = self.heads(statement["left"]) | self.heads(statement["right"])
        given = self.how["replaced"] == "any" and ({"norm", "norm2"} & heads or (self.each_gap and {*GAPS} & heads))
        if "E_data" in heads and given:
            raise NotQuadratic("an error over all data beside lengths that have the data given")

    def generalisation(self, body, index):
        """E(F_pop(x) - F(x)) over all data and chance, x the server's model after some round; the same for all outcomes."""
        key = "generalisation", id(body), *index.items()
        if key not in self.kept:
            said = [NormExpression.like(self.value(body, index, outcome)).terms for _, outcome in self.outcomes()]
            place = next((r for r in range(self.size["rounds"] + 1) if said == self.errors(r)), None)
            if place is None:
                raise NotQuadratic("only the generalisation error of a server's model has a form")
            self.kept[key] = NormExpression({(SIGNED, "generalisation", place): Fraction(1)})
        return self.kept[key]

    def errors(self, r):
        """F_pop(x) - F(x) of the server's model after r rounds, for each outcome."""
        if r not in self.of_models:
            models = [self.run(outcome).record["x_round"][r] for _, outcome in self.outcomes()]
            self.of_models[r] = [(self.F_pop(x) - self.objective(x)).terms for x in models]
        return self.of_models[r]

    def gap(self, word, node, index, outcome):
        """The worst difference of losses at two models; ``gaps`` has the expected distance that bounds it."""
        if id(node) not in self.formulas:
            apart = ["norm", ["+", node[1], ["*", -1, node[2]]]]
            self.formulas[id(node)] = node, ["E", apart]
        scenario = (self.run(outcome).where,) if self.each_gap and self.how["replaced"] == "any" else ()
        ends = [[self.value(side, index, case) for side in node[1:]] for _, case in self.outcomes()]
        records = [self.run(case).record for _, case in self.outcomes()]
        for r in range(self.size["rounds"] + 1):
            if all(v.equals(record["x_round"][r]) and w.equals(record["twin_x_round"][r])
                   for (v, w), record in zip(ends, records, strict=True)):
                if (self.how["replaced"] == "random") == (word == "worst_sample_gap"):
                    self.gaps[word, r, *scenario] = self.value(self.formulas[id(node)][1], index, outcome)
                return NormExpression({(SIGNED, word, r, *scenario): Fraction(1)})
        raise NotQuadratic("only the gap between the server's models of both runs has a form")
