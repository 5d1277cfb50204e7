"""A federation of your own arrays: ridge logistic regression on three hospitals' made-up records, FedAvg, Li et al. 2020.

    python demos/your_own_data.py [FIGURE]
"""

import sys

import numpy as np

import fedtheory
import synthetic
from fedtheory.observables import DEFAULT


def records(seed: int = 0):
    """Features (rows, 5), outcomes (rows,) and the hospital of each row; the hospitals' patients differ."""
    rng = np.random.default_rng(seed)
    hospital = np.repeat(["north", "south", "west"], [60, 40, 20])
    shift = {"north": -0.5, "south": 0.0, "west": 1.0}
    X = rng.normal(size=(len(hospital), 5)) + np.array([[shift[name]] for name in hospital])
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0, 0.0] + 0.5 * rng.normal(size=len(X)) > 0, "ill", "well")
    return X, y, hospital


def main(figure: str = "own-data") -> None:
    federation = synthetic.from_arrays(*records(), task="binary", ridge=0.1, batch_size=4, held_out=0.25)
    for name in ("L", "mu", "sigma_sq", "Gamma"):
        constant = federation.constants[name]
        print(f"{name:8} = {float(constant.value[0]):.4g}  ({constant.provenance}: {constant.note})")
    L, mu = (float(federation.constants.value(name)[0]) for name in ("L", "mu"))
    algorithm = fedtheory.fedavg(fedtheory.InverseTime(mu, offset=8 * L / mu), local_steps=3)
    trajectory = fedtheory.run(algorithm, federation, rounds=100, seeds=32, record=(*DEFAULT, "held_out_accuracy"))
    accuracy = float(trajectory.dataset.held_out_accuracy[:, -1].mean())
    print(f"{accuracy:.1%} of {federation.held_out_size} records that nobody trained on are classified correctly")
    comparison = fedtheory.compare("li2020/theorem-1", trajectory)
    for path in comparison.plot(figure).values():
        print("figure:", path)
    print(f"{comparison.claim}: {comparison.verdict}; {comparison.reason}")


if __name__ == "__main__":
    main(*sys.argv[1:])
