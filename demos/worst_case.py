"""The exact worst case: of a method over all smooth strongly convex functions, and of a claim beside its bound.

    python demos/worst_case.py [FOLDER]
"""

import sys
from fractions import Fraction
from pathlib import Path

import fedtheory as ft
from synthetic import TORCH
from verify.results.drawing import save
from verify.worst.function import measured, worst_function
from verify.worst.function_figure import function_figure
from verify.worst.tuning import tuned


def main(folder: str = ".") -> None:
    found = ft.worst("scaffold", rounds=3, clients=2, local_steps=2, eta_l=0.5)
    print(f"after {found.rounds} rounds |x - x_*|^2 is at most {found.ratio:.6f} times what it was, in every dimension")

    function = worst_function(found)
    print(f"torch, on the worst functions: {measured(function, TORCH)['ratio']:.6f}")
    save(function_figure(function), Path(folder) / "worst_functions", ["svg"])

    best = tuned("scaffold", "eta_l", rounds=3, clients=2, local_steps=2)
    print(f"the best step is {best.value:.4f}, with {best.worst.ratio:.6f}")

    rate = ft.potential("scaffold", clients=2, local_steps=2, eta_l=Fraction(1, 2), option="II").proven
    print(f"proven for every number of rounds: a factor {float(rate.rate):.6f} in each; {rate.scope}")

    curve = ft.bound_over_rounds("classical/scaffold-convex", rounds=3)
    print(f"{curve.claim.id}: the bound could be smaller by the factors {', '.join(f'{x:.4f}' for x in curve.exact)}")
    print("figure:", curve.plot(Path(folder) / "worst_case")["svg"])


if __name__ == "__main__":
    main(*sys.argv[1:])
