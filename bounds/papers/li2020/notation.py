"""The letters of Li et al. 2020: those of FedALIGN, which follows it, but for the averages."""

from bounds.language.letters import Letter
from bounds.papers.fedalign import notation as fedalign

__all__ = ["LETTERS"]

LETTERS = fedalign.LETTERS | {
    "x": Letter(r"\bar v_{<0>}", "virtual average at time t, of all clients", "t"),
    "x_sampled": Letter(r"\bar w_{<0>}", "average at time t, of the sampled clients at communication", "t"),
}
