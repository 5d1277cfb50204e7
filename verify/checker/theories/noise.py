"""Noise of draws, and means given the past: all in the inner products of letters."""

from verify.checker.laurent_polynomials import CLIENTS
from verify.checker.operators import require
from verify.checker.quadratic_forms import APART, LAYER, QuadraticForm, SymbolicVector, pairing


def variance(run, past, k, kind, round, step, number):
    """sigma_k^2 - |n|^2 >= 0 in the mean, of the noise n of a draw from the given round on: sigma_k^2 is its variance."""
    require(round >= past, "noise that is given")
    row, *_ = run.letters.noises[(k, kind, round, step)][max(number, 0)]
    return run.given["sigma_sq_client"][k] - pairing(row, row)


def uncorrelated(run, past, i, j, layer=0, apart=""):
    """<n, v> = 0 in the mean, of a letter n of noise, from the given round on, and one that does not depend on its draw: n
    has mean zero given all that does not depend on the draw. ``apart``: of what clients differ from their mean by."""
    first, depends = run.letters.first_of_draws(past), run.letters.depends
    require(any(n in first and first[n] not in depends[v] for n, v in ((i, j), (j, i))), "letters that may be correlated")
    if apart:
        require(apart == "apart" and run.people.one and not {i, j} & run.letters.shared, "deviations of what is shared")
    part = layer * LAYER + (APART if apart else 0)
    require(layer in range(run.letters.layers), "no layer")
    return QuadraticForm.basis(tuple(sorted((i + part, j + part))))


def across(run, past, i, j, layer):
    """mean <n_k, v_j> over all clients k and j = 1/m of the mean over k = j, of a letter n of clients' noise and one v that
    depends on no client's draws but its own: noise of different clients is uncorrelated."""
    first, depends, letters = run.letters.first_of_draws(past), run.letters.depends, run.letters
    require(run.people.one and not run.people.any_weights and layer in range(letters.layers), "clients of equal weight")
    own = any(n in first and first[n] + LAYER not in depends[v] for n, v in ((i, j), (j, i)))
    require(own, "letters that may depend on other clients' draws")
    i, j = sorted((i, j))
    mean, apart = (QuadraticForm.basis((i + part, j + part)) for part in (layer * LAYER, layer * LAYER + APART))
    return mean - (mean + apart) * CLIENTS**-1


def conditional(run, past, letter, round, j, layer=0):
    """<u - E[u | past of a round], v> = 0 in the mean, of a letter u and one v that is known given that past."""
    letters = run.letters
    require(round >= past and all(letters.drawn[draw] < round for draw in letters.depends[j]), "a letter that is not given")
    require(layer in letters.parts and min(letter, j) >= 0, "no layer, or no letter")
    rest = SymbolicVector.basis(letter + layer * LAYER) - letters.part(layer, letters.conditional[letter, round])
    return pairing(rest, SymbolicVector.basis(j + layer * LAYER)) + QuadraticForm({})
