"""Strategies of Flower in this process, without a server or a network: mine, and two of its own. Skipped without Flower."""

import pytest

common = pytest.importorskip("flwr.common", reason="strategies of Flower need: pip install flwr")
managers = pytest.importorskip("flwr.server.client_manager")
proxies = pytest.importorskip("flwr.server.client_proxy")
strategies = pytest.importorskip("flwr.server.strategy")
mine = pytest.importorskip("my_methods.flower_strategy")

#: a round needs no more clients than the job says
ANY = {"min_fit_clients": 1, "min_evaluate_clients": 1, "min_available_clients": 1}


class Client(proxies.ClientProxy):
    """A client that takes plain gradient steps."""

    def __init__(self, job, k):
        super().__init__(str(k))
        self.job, self.k = job, k

    def fit(self, ins, timeout, group_id):
        x = common.parameters_to_ndarrays(ins.parameters)[0]
        for _ in range(self.job.local_steps):
            x = x - self.job.eta_l * self.job.gradients[self.k](x)
        status = common.Status(common.Code.OK, "")
        return common.FitRes(status, common.ndarrays_to_parameters([x]), self.job.num_examples[self.k], {})

    def _unused(self, ins, timeout, group_id):
        raise NotImplementedError

    get_properties = get_parameters = evaluate = reconnect = _unused


def rounds_of(strategy, job):
    """A strategy's rounds: ``configure_fit`` among the clients that the job names, their work, ``aggregate_fit``."""
    parameters = strategy.initialize_parameters(managers.SimpleClientManager())
    models = [common.parameters_to_ndarrays(parameters)[0]]
    for number, clients in enumerate(job.taking_part, start=1):
        manager = managers.SimpleClientManager()
        for k in clients:
            manager.register(Client(job, k))
        asked = strategy.configure_fit(number, parameters, manager)
        results = [(client, client.fit(ins, None, None)) for client, ins in asked]
        parameters, _ = strategy.aggregate_fit(number, results, [])
        models.append(common.parameters_to_ndarrays(parameters)[0])
    return models


def momentum(job):
    return rounds_of(mine.FlowerMomentum([job.start], job.hyper["beta1"], job.hyper["eta_g"], **ANY), job)


def its_average(job):
    start = common.ndarrays_to_parameters([job.start])
    return rounds_of(strategies.FedAvg(initial_parameters=start, **ANY), job)


def its_momentum(job):
    start = common.ndarrays_to_parameters([job.start])
    return rounds_of(strategies.FedAvgM(initial_parameters=start, server_momentum=job.hyper["beta1"],
                                        server_learning_rate=job.hyper["eta_g"], **ANY), job)


def test_my_strategy(conforms):
    conforms(momentum, like="fedavgm", arguments={"beta1": 0.5, "eta_g": 0.75})


def test_the_average_of_its_own(conforms):
    conforms(its_average, like="fedavg")


def test_the_momentum_of_its_own(conforms):
    conforms(its_momentum, like="fedavgm", arguments={"beta1": 0.5, "eta_g": 0.75})
