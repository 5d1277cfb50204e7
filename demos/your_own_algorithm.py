"""A new method in thirty lines, checked by the conformance suite; then the same method with a sign reversed.

    python demos/your_own_algorithm.py
"""

from dataclasses import dataclass

from fedtheory import Algorithm, Correction
from fedtheory.testing import check_algorithm
from fedtheory.traits import EVERYONE, ISOTROPIC, STEP, Costs, FixedPoint, Traits


@dataclass(frozen=True)
class Anchored(Correction):
    """``g - a_k + a`` with a_k the client's gradient at the model of the round, and a the mean of the last round's a_k."""

    down, up, extra_evaluations = 1, 1, 1

    def server_state(self, federation, x, draws):
        return {"anchor": 0 * x}

    def begin(self, local, context):
        return local.with_own(anchor=context.extra_gradient(context.x[:, None, :] + 0 * local.x))

    def shift(self, local, context):
        return context.server("anchor") - local.own["anchor"]

    def finish(self, local, context):
        return {}, {"anchor": local.own["anchor"]}

    def aggregate(self, average, upload, context):
        return average, {"anchor": context.weighted_sum(upload.others["anchor"])}


TRAITS = Traits(
    **ISOTROPIC, units={"eta_l": STEP}, fixed_point=FixedPoint(where=EVERYONE),
    costs=Costs(down=2, up=2, gradients=lambda local_steps: local_steps + 1, kept=0),
)


class Reversed(Anchored):
    """The correction has the wrong sign."""

    def shift(self, local, context):
        return -super().shift(local, context)


def main() -> None:
    right = Algorithm(eta_l=0.1, correction=Anchored(), name="anchored")
    check_algorithm(right, traits=TRAITS).raise_if_failed().print()
    wrong = Algorithm(eta_l=0.1, correction=Reversed(), name="anchored, sign reversed")
    report = check_algorithm(wrong, traits=TRAITS)
    print(f"{wrong.name}: {report.summary}\n")
    for failure in report.failed:
        print(failure)


if __name__ == "__main__":
    main()
