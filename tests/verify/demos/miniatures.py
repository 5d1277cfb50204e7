"""The numbers of the comparisons in miniature, computed in another way."""

import numpy as np

import fedtheory as ft
from synthetic import to_numpy
from verify.demos.controls import start_values
from verify.demos.miniature import CLIENTS, SEEDS, digits
from verify.demos.pictures import mini_afedpd, mini_fadamgc, mini_fedalign, mini_fedluar, mini_fedmoswa

__all__ = ["CHECKS"]


def at(module, **values):
    return module.compute(**start_values(module.CONTROLS) | values)


def by_hand(federation, models):
    """Held-out loss and accuracy of a network with one hidden layer at ``models`` (runs, dim), sample by sample."""
    features, targets = to_numpy(federation.held_features)[0, 0], to_numpy(federation.held_targets)[0, 0]
    owner = to_numpy(federation.held_client)[0].astype(int)
    share = 1 / to_numpy(federation.counts)[0][owner]
    share, width, found = share / share.sum(), federation.hidden[0], []
    for x in models:
        cuts = np.cumsum([64 * width, width, 10 * width])
        W, b, V, c = np.split(x, cuts)
        scores = np.array([V.reshape(10, width) @ np.tanh(W.reshape(width, 64) @ a + b) + c for a in features])
        losses = np.log(np.exp(scores).sum(axis=1)) - scores[targets > 0]
        found.append((share @ losses, share @ (scores.argmax(axis=1) == targets.argmax(axis=1))))
    return np.transpose(found)


def held_out_samples_are_measured():
    found, federation = at(mini_fedmoswa), digits(0.1)
    for number in (1, 4):  # SCAFFOLD and FedMoSWA
        name, own = list(mini_fedmoswa.METHODS.items())[number]
        method = ft.make_algorithm(name, eta_l=0.3, local_steps=5, participants=2, **own)
        models = ft.run(method, federation, mini_fedmoswa.ROUNDS, seeds=SEEDS, record=("x",)).dataset.x.values
        loss, accuracy = by_hand(federation, models[:, -1])
        assert np.allclose(found.loss[number][:, -1], loss, rtol=1e-9)
        assert np.allclose(found.accuracy[number][:, -1], accuracy, rtol=1e-9)
    alike = [(to_numpy(digits(alpha).targets)[0].sum(axis=1) / to_numpy(digits(alpha).counts)[0][:, None]).max(axis=1).mean()
             for alpha in (0.1, 10.0)]
    assert alike[0] > 2 * alike[1]  # the share of a client's largest class


def with_all_clients_both_primal_dual_methods_are_one():
    found = at(mini_afedpd, participants=CLIENTS)
    assert all(map(np.array_equal, found.few, found.all))
    sent = ft.afedpd(eta_l=0.3, local_steps=5, rho_prox=0.1, participants=CLIENTS, output="server")
    run = ft.run(sent, digits(0.1), mini_afedpd.ROUNDS, seeds=SEEDS, record=("held_out_loss",)).dataset
    assert np.allclose(found.all[1], run.held_out_loss.values, rtol=1e-6)
    assert not np.allclose(found.all[2], found.all[1], rtol=1e-3)  # which returns the average


def without_trackers_the_corrected_method_is_local_adam():
    found = at(mini_fadamgc)
    method = ft.fadamgc(eta_l=0.01, local_steps=5, participants=2, trackers=0)
    run = ft.run(method, digits(0.1), mini_fadamgc.ROUNDS, seeds=SEEDS, record=("held_out_loss",)).dataset
    assert np.allclose(found.skewed[0], run.held_out_loss.values, rtol=1e-9)
    assert not np.allclose(found.skewed[2], found.skewed[0], rtol=1e-3)


def thresholds_lie_between_nobody_and_everybody():
    nobody, everybody = at(mini_fedalign, epsilon=0.0), at(mini_fedalign, epsilon=1e9)
    assert np.allclose(nobody.loss[2], nobody.loss[0]) and not nobody.included.any()
    assert np.allclose(everybody.loss[2], everybody.loss[1])
    joined = np.arange(mini_fedalign.ROUNDS) >= mini_fedalign.WARMUP
    assert (everybody.included == mini_fedalign.FREE * joined).all()


def floats_are_counted_as_the_methods_say():
    found = at(mini_fedluar, recycled=0, bits=8)
    rounds = np.arange(1, mini_fedluar.ROUNDS + 1)
    assert np.allclose(found.loss[3], found.loss[0]) and np.allclose(found.sent[3], found.sent[0])
    assert np.allclose(found.sent[0], 3 * rounds) and np.allclose(found.sent[1], 3 * rounds * 8 / 32)
    assert np.allclose(found.sent[2], 1.5 * rounds, rtol=0.1)
    assert (at(mini_fedluar, recycled=3).sent[3][:, -1] < 0.6 * found.sent[0][:, -1]).all()


CHECKS = {
    "mini-fedmoswa": held_out_samples_are_measured, "mini-afedpd": with_all_clients_both_primal_dual_methods_are_one,
    "mini-fadamgc": without_trackers_the_corrected_method_is_local_adam,
    "mini-fedalign": thresholds_lie_between_nobody_and_everybody, "mini-fedluar": floats_are_counted_as_the_methods_say,
}
