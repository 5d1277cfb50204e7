"""FedAvg with momentum on the server as a strategy of Flower (`pip install flwr`)."""

import numpy as np
from flwr.common import ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server.strategy import FedAvg


class FlowerMomentum(FedAvg):
    """``u <- momentum u + (average - x)``, ``x <- x + server_step u``, around the average of Flower's FedAvg."""

    def __init__(self, layers, momentum=0.9, server_step=1.0, **options):
        super().__init__(initial_parameters=ndarrays_to_parameters(layers), **options)
        self.momentum, self.server_step = momentum, server_step
        self.layers = [np.asarray(layer, dtype=float) for layer in layers]
        self.velocity = [np.zeros_like(layer) for layer in self.layers]

    def aggregate_fit(self, server_round, results, failures):
        average, metrics = super().aggregate_fit(server_round, results, failures)
        if average is None:
            return None, metrics
        for place, layer in enumerate(parameters_to_ndarrays(average)):
            self.velocity[place] = self.momentum * self.velocity[place] + (layer - self.layers[place])
            self.layers[place] = self.layers[place] + self.server_step * self.velocity[place]
        return ndarrays_to_parameters(self.layers), metrics
