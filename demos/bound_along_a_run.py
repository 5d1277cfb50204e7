"""A bound beside the measurement: FedALIGN on a noisy quadratic federation, 64 seeds, corrected Theorem 1.

    python demos/bound_along_a_run.py [FIGURE]
"""

import sys

import fedtheory
import synthetic


def main(figure: str = "bound") -> None:
    federation = synthetic.make_quadratic(
        clients=8, dim=4, L=8.0, mu=1.0, priority=4, free_spread=0.5, noise="sphere", sigma=1.0
    )
    local_steps = 2
    L, mu = (float(federation.constants.value(name)[0]) for name in ("L", "mu"))
    step = fedtheory.InverseTime(mu, offset=max(8 * L / mu, local_steps))
    algorithm = fedtheory.fedalign(step, local_steps, epsilon=fedtheory.StopAfter(0.5, stop=20))
    trajectory = fedtheory.run(algorithm, federation, rounds=200, seeds=64)
    comparison = fedtheory.compare("fedalign/derived-theorem-1", trajectory)
    for path in comparison.plot(figure).values():
        print("figure:", path)
    print(f"{comparison.claim}: {comparison.verdict}; {comparison.reason}")


if __name__ == "__main__":
    main(*sys.argv[1:])
