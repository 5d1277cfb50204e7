"""FedAvg with momentum on the server, as a strategy: it sees what clients send, and never their data.

The methods are named as in Flower's strategies. A strategy of Flower's own has its parameters in a container; convert them
where the tests call it.
"""

import numpy as np


class ServerMomentum:
    """``u <- momentum u + (average - x)``, ``x <- x + u``."""

    def __init__(self, initial_parameters, momentum=0.9):
        self.parameters = [np.asarray(layer, dtype=float) for layer in initial_parameters]
        self.momentum = momentum
        self.velocity = [np.zeros_like(layer) for layer in self.parameters]

    def initialize_parameters(self, client_manager=None):
        return self.parameters

    def aggregate_fit(self, server_round, results, failures):
        """The new parameters from ``results``, pairs of a client and its reply with ``parameters`` and ``num_examples``."""
        if not results or failures:
            return self.parameters, {}
        examples = sum(reply.num_examples for _, reply in results)
        for layer, old in enumerate(self.parameters):
            average = sum(reply.num_examples * reply.parameters[layer] for _, reply in results) / examples
            self.velocity[layer] = self.momentum * self.velocity[layer] + (average - old)
            self.parameters[layer] = old + self.velocity[layer]
        return self.parameters, {"examples": examples}
