"""Faults of what is sent: layers, coordinates, and their count."""

from __future__ import annotations

from fedtheory.testing.faults.planting import Fault, spoiled_part
from synthetic.numbers.arrays import namespace

__all__ = ["FAULTS"]


def recycled_counted(self, original, change, local, moment):
    sent, floats, local = original(change, local, moment)
    return sent, 0 * floats + change.shape[-1], local


def recycled_dropped(self, original, change, moment):
    server = original(change, moment)[1]
    return change, server | {"applied_update": change}


def recycled_twice(self, original, change, moment):
    applied, server = original(change, moment)
    return 2 * applied - change, server


def recycled_from_now(self, original, change, moment):
    """What the server keeps for the next round is what arrived, without the recycled layers."""
    applied, server = original(change, moment)
    return applied, server | {"applied_update": change}


def over_all_senders(self, original, sent, moment):
    """Coordinates that were dropped count as zeros."""
    return moment.average(sent)


def never_counted(self, original, change, local, moment):
    sent, floats, local = original(change, local, moment)
    return sent, 0 * floats, local


def scale_forgotten(self, original, change, local, moment):
    """A client that sends one number sends the coefficient's sign only."""
    sent, floats, local = original(change, local, moment)
    xp = namespace(sent)
    return xp.where((floats < change.shape[-1])[..., None], local.own["look_back"], sent), floats, local


FAULTS = (
    Fault("recycled layers are counted as sent", "fedluar", "fedluar 3.3, axis comm",
          spoiled_part("upload", send=recycled_counted), ("declared costs",)),
    Fault("recycled layers do not move", "fedluar", "fedluar 3.2, drop variant",
          spoiled_part("upload", receive=recycled_dropped), ("law: recycled layers repeat",)),
    Fault("recycled layers move twice", "fedluar", "general", spoiled_part("upload", receive=recycled_twice),
          ("law: the model moves by the applied update",)),
    Fault("what the next round recycles lacks this round's recycled layers", "fedluar", "general",
          spoiled_part("upload", receive=recycled_from_now), ("law: recycled layers repeat",)),
    Fault("nothing is counted as sent", "fedluar", "AdamWei-boop/Federated-Learning-with-Model-Quantization#1",
          spoiled_part("upload", send=never_counted), ("declared costs",)),
    Fault("dropped coordinates count as zeros in the mean", "feddropoutavg", "fedluar 8",
          spoiled_part("upload", combine=over_all_senders), ("law: what arrives moves as in FedAvg",)),
    Fault("the look-back coefficient is lost", "lbgm", "fedluar 8", spoiled_part("upload", send=scale_forgotten),
          ("law: what is used is a projection of the change",)),
)
