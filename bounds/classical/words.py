"""Words of A-FedPD's claims about samples and coupled runs that claims of the textbooks use too."""

from bounds.afedpd.words import (
    E_unused,
    G_lip,
    H_loss,
    differing,
    samples,
    twin_x_before,
    twin_x_local,
    twin_x_round,
    worst_mean_gap,
)
from bounds.classical.scaffold import client_variate, server_variate

__all__ = [
    "E_unused", "G_lip", "H_loss", "client_variate", "differing", "samples", "server_variate", "twin_x_before",
    "twin_x_local", "twin_x_round", "worst_mean_gap",
]
