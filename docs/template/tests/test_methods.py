"""Each method of the project is the one that it should be, on federations whose numbers are known exactly.

An adapter hands a ``Job`` to a method and gives back its models. fedtheory is imported by its plugin alone.
"""

from types import SimpleNamespace

import numpy as np

from my_methods.plain import fedavg
from my_methods.strategy import ServerMomentum
from my_methods.torch_loop import scaffold


def plain(job):
    return fedavg(job.gradients, job.weights, job.start, job.taking_part, job.local_steps, job.eta_l)


def torch_loop(job):
    return scaffold(job.losses, job.weights, job.start, job.taking_part, job.local_steps, job.eta_l)


def strategy(job):
    """The rounds of a federation around a strategy: clients take plain gradient steps."""
    server = ServerMomentum([job.start], momentum=job.hyper["beta1"])
    parameters = server.initialize_parameters()
    models = [parameters[0]]
    for number, clients in enumerate(job.taking_part, start=1):
        results = []
        for k in clients:
            x = parameters[0].copy()
            for _ in range(job.local_steps):
                x -= job.eta_l * job.gradients[k](x)
            results.append((k, SimpleNamespace(parameters=[x], num_examples=job.num_examples[k])))
        parameters, _ = server.aggregate_fit(number, results, failures=[])
        models.append(parameters[0].copy())
    return models


def test_the_plain_function_is_fedavg(conforms):
    conforms(plain, like="fedavg")


def test_the_torch_loop_is_scaffold(conforms):
    conforms(torch_loop, like="scaffold")


def test_the_strategy_is_fedavgm(conforms):
    conforms(strategy, like="fedavgm", arguments={"beta1": 0.5})


def test_on_one_client_scaffold_is_fedavg(exact_federations, reference):
    """References can be had without a method of one's own."""
    for case in exact_federations:
        if case.clients == 1:
            np.testing.assert_allclose(reference("scaffold", case), reference("fedavg", case))
