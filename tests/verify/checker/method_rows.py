"""Every method with its options, as the stand-alone checker replays it and the engine runs it."""

import json
from fractions import Fraction as Q

import numpy as np

from bounds.controls.fedavg import control
from bounds.language.claim import INDEPENDENT, Condition, Procedure, Variable
from bounds.language.operators import E, F_star, iterations, objective, x_sampled
from synthetic.numbers.arrays import BALLS, EXACT
from tests.verify.checker.test_replay import _simple
from verify.checker.instance import Instance
from verify.checker.methods import adaptive
from verify.checker.run import METHODS
from verify.exact.certificate import certificate
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params
from verify.instances.factored import FactoredClients
from verify.instances.instance import federation_of
from verify.instances.parameters import map_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

__all__ = ["FULL_ONLY", "ROWS", "TOSSING", "names_of", "noisy_client", "replayed"]

MEASURED = ("x", "x_sampled", "x_local", "x_before", "g", "included", "sampled_weight", "sampled", "x_round", "x_broadcast")


def row(method, numbers=(), backend=EXACT, /, **options):
    """A method, the hyper-parameters that a claim would leave free, and its options."""
    return method, tuple(dict(numbers).items()), backend, tuple(options.items())


PLAIN = {"eta_g": Q(3, 2)}
ADAM = PLAIN | {"beta1": Q(1, 2), "beta2": Q(3, 4), "eps": Q(1, 2)}
MIXED = PLAIN | {"alpha": Q(1, 4), "beta1": Q(1, 2), "beta2": Q(3, 4)}  # eps is a number
MOVING = PLAIN | {"gamma": Q(1, 4), "rho_decay": Q(1, 2)}
DUAL, RADIUS = {"rho_prox": Q(1, 2)}, {"rho_sam": Q(1, 3)}
DIRECTION = {"beta": Q(1, 4), "gamma": Q(1, 8)}
BASIC = {
    "fedavg": row("fedavg", PLAIN),
    "fedswa": row("fedswa", PLAIN | {"rho_decay": Q(1, 2)}),
    "fedswa h1": row("fedswa", PLAIN, schedule="geometric-h1"),
    "fedmoswa I": row("fedmoswa", MOVING, option="I"),
    "fedmoswa II": row("fedmoswa", MOVING),
    "fedmoswa II free": row("fedmoswa", MOVING, start="free"),
    "fedmoswa II free-mean": row("fedmoswa", MOVING, start="free-mean"),
    "fedmoswa gradient": row("fedmoswa", MOVING, start="gradient"),
    "fedmoswa gradient-clients-only": row("fedmoswa", MOVING, start="gradient-clients-only"),
    "fedmoswa all-clients": row("fedmoswa", MOVING, variant="all-clients"),
    "fedmoswa all-clients gradient": row("fedmoswa", MOVING, variant="all-clients", start="gradient-clients-only"),
    "fedmoswa h1": row("fedmoswa", PLAIN, schedule="geometric-h1"),
    "fedmoswa fresh": row("fedmoswa", MOVING, variant="fresh", batch="independent"),
    "fedmoswa fresh same": row("fedmoswa", MOVING, variant="fresh", batch="same"),
    "fedmo": row("fedmo", {"gamma": Q(1, 4)}),
    "fedmo I": row("fedmo", {"gamma": Q(1, 4)}, option="I", start="gradient"),
    "scaffold": row("scaffold", PLAIN),
    "scaffold I": row("scaffold", PLAIN, option="I", start="gradient"),
    "scaffold average": row("scaffold", PLAIN, option="average-gradient", sign="printed-eq3"),
    "scaffnew": row("scaffnew", {"communication": Q(1, 3)}),
    "scaffnew free": row("scaffnew", {"communication": Q(2, 3)}, start="free"),
    "scaffold-m": row("scaffold-m", DIRECTION),
    "scaffold-m I": row("scaffold-m", DIRECTION, option="I", start="gradient"),
    "scaffold-m II": row("scaffold-m", DIRECTION, option="II", start="gradient-clients-only"),
    "fedcm": row("fedcm", PLAIN | {"beta": Q(1, 4)}),
    "fedavg-m": row("fedavg-m", DIRECTION),
    "fedavg-m heavy ball": row("fedavg-m", DIRECTION, momentum="heavy-ball"),
    "local-only": row("local-only"),
    "fedavg-priority": row("fedavg-priority", PLAIN),
    "fedavg-all": row("fedavg-all", warmup=1),
    "fedalign": row("fedalign", epsilon=5),
    "fedalign-fraction": row("fedalign-fraction", normalisation="unbiased"),
    "fedprox": row("fedprox", DUAL),
    "fedprox-priority": row("fedprox-priority", DUAL),
    "fedprox-all": row("fedprox-all", DUAL),
    "fedalign-fedprox": row("fedalign-fedprox", DUAL),
    "fedavgm": row("fedavgm", PLAIN | {"beta1": Q(1, 2)}),
    "fedacg": row("fedacg", DUAL | {"lam": Q(3, 4)}),
    "fednova": row("fednova", PLAIN),
    "fednova steps": row("fednova", PLAIN, client_steps=(2, 1, 2)),
    "fednova pull": row("fednova", PLAIN | DUAL, client_steps=(2, 1, 2)),
    "fednova momentum": row("fednova", PLAIN | {"beta": Q(1, 4)}, client_steps=(1, 2, 2)),
    "fednova both": row("fednova", DUAL | {"beta": Q(1, 4)}, client_steps=(1, 2, 2)),
    "fedpd": row("fedpd", DUAL),
    "fedpd exact": row("fedpd", DUAL, solver="exact"),
    "fedadmm": row("fedadmm", DUAL),
    "fedadmm g": row("fedadmm", DUAL, l1=0.25, l2=0.5),
    "fedadmm g consistent": row("fedadmm", DUAL | {"l1": Q(1, 4)}, weight="consistent"),
    "fedadmm stale": row("fedadmm", DUAL, variant="stale"),
    "feddyn": row("feddyn", DUAL),
    "feddyn printed": row("feddyn", DUAL, order="printed"),
    "feddyn exact": row("feddyn", DUAL, solver="exact"),
    "afedpd": row("afedpd", DUAL),
    "afedpd exact": row("afedpd", DUAL, solver="exact", output="server"),
    "fedspeed": row("fedspeed", DUAL | RADIUS | {"alpha": Q(1, 4)}),
}
ROOTS = {
    "fedadagrad": row("fedadagrad", {"eta_g": Q(1, 2), "eps": Q(1, 4)}, BALLS),
    "fedadagrad momentum": row("fedadagrad", {"beta1": Q(1, 2), "eps": Q(1, 4)}, BALLS, v_init=0.25),
    "fedadam": row("fedadam", ADAM, BALLS),
    "fedadam zero": row("fedadam", ADAM, BALLS, v_init=0.0),
    "fedyogi": row("fedyogi", ADAM, BALLS),
    "fedyogi start": row("fedyogi", ADAM, BALLS, v_init=2.0),
    "fedams": row("fedams", ADAM, BALLS),
    "fedams start": row("fedams", ADAM, BALLS, v_init=0.5),
    "fedamsgrad": row("fedams", ADAM, BALLS, option="fedamsgrad"),
    "fedlada": row("fedlada", MIXED, BALLS, eps=0.5),
    "fedlada local": row("fedlada", MIXED, BALLS, eps=0.5, moments="local"),
    "local-adam": row("local-adam", ADAM, BALLS),
    "local-adam delayed": row("local-adam", ADAM, BALLS, vhat="none", moment_index="delayed", v_init=0.5),
    "local-adam carry": row("local-adam", ADAM, BALLS, vhat="carry", store="vhat"),
    "fadamgc": row("fadamgc", ADAM, BALLS),
    "fadamgc carry": row("fadamgc", ADAM, BALLS, vhat="carry", y_init="gradient"),
    "fadamgc scalar": row("fadamgc", ADAM, BALLS, y_init="gradient", norm="scalar"),
    "fadamgc vhat": row("fadamgc", ADAM, BALLS, store="vhat", vhat="zero"),
    "fadamgc one tracker": row("fadamgc", ADAM, BALLS, trackers=1, y_init="gradient"),
    "fa-nt": row("fa-nt", ADAM, BALLS),
    "fa-nt scalar": row("fa-nt", ADAM, BALLS, y_init="normalised-gradient", norm="scalar"),
    "fa-nt one tracker": row("fa-nt", ADAM, BALLS, trackers=1),
    "fa-nt carry": row("fa-nt", ADAM, BALLS, y_init="normalised-gradient", vhat="carry"),
    "fa-nt-z": row("fa-nt-z", ADAM, BALLS),
    "fa-nt-z gradient": row("fa-nt-z", ADAM, BALLS, y_init="normalised-gradient", norm="scalar", vhat="carry"),
    "fedsam": row("fedsam", PLAIN | RADIUS, BALLS),
    "mofedsam": row("mofedsam", PLAIN | RADIUS | {"beta": Q(1, 4)}, BALLS),
    "fedgamma": row("fedgamma", PLAIN | RADIUS, BALLS),
    "fedgamma gradient": row("fedgamma", PLAIN | RADIUS, BALLS, start="gradient"),
    "fedasam": row("fedasam", PLAIN | RADIUS | {"nu": Q(1, 8)}, BALLS),
    "fedasam average": row("fedasam", RADIUS, BALLS, swa_start=0, swa_cycle=2, swa_ratio=0.25),
    "fedasam late average": row("fedasam", RADIUS, BALLS, swa_start=1, swa_cycle=1),
    "fedlesam": row("fedlesam", PLAIN | RADIUS, BALLS),
    "fedsmoo": row("fedsmoo", DUAL | RADIUS, BALLS),
    "fedsmoo s_hat": row("fedsmoo", DUAL | RADIUS, BALLS, sent="s_hat", order="printed"),
    "fedpara": row("fedpara", PLAIN),
    "moon": row("moon", PLAIN | {"mu_con": Q(3, 4), "temperature": Q(1, 2)}, BALLS),
    "afedpdsam": row("afedpdsam", DUAL | RADIUS, BALLS),
    "afedpdsam eps": row("afedpdsam", DUAL | RADIUS, BALLS, sam_eps=0.125, output="server"),
}
MASKS = ((0, 0), (1, 0), (0, 1))
FEWER = {
    "fedluar": row("fedluar", (), BALLS, masks=MASKS),
    "fedluar all": row(
        "fedluar", (), BALLS, masks=((1, 1), (1, 0), (1, 1)), initial_update=(1, -2), score="oracle"),
    "fedluar recompute": row("fedluar", (), BALLS, masks=((0, 0), (0, 1)), score="recompute"),
    "fedluar drawn": row("fedluar", (), BALLS),
    "fedluar inverted": row("fedluar", (), BALLS, selector="inverted", R0="all", initial_update=(1, -2)),
    "fedluar uniform": row("fedluar", (), BALLS, selector="uniform", score="recompute"),
    "fedluar update norm": row("fedluar", (), BALLS, selector="update-norm"),
    "fedluar drop": row("fedluar", (), BALLS, mode="drop", score="recompute"),
    "fedluar rescaled": row("fedluar", (), BALLS, masks=MASKS, lr_decay="rescaled"),
    "fedluar momentum": row("fedluar", (), BALLS, masks=MASKS, local_momentum=0.5),
    "fedluar kept momentum": row("fedluar", (), BALLS, masks=MASKS, local_momentum=0.5, momentum_kept=True),
    "fedluar fedprox": row("fedluar", (), BALLS, masks=MASKS, base="fedprox", rho_prox=0.5),
    "fedluar server step": row("fedluar", (), BALLS, masks=MASKS, eta_g=1.5),
    "feddrop": row("feddrop", (), BALLS, masks=MASKS),
    "feddrop drawn": row("feddrop", (), BALLS),
    "lbgm": row("lbgm", PLAIN | {"threshold": Q(1, 4)}),
    "lbgm always": row("lbgm", PLAIN | {"threshold": 1}),
    "fedpaq": row("fedpaq", PLAIN, BALLS, levels=2),
    "fedpaq whole": row("fedpaq", PLAIN, BALLS, bits=3, scope="whole-vector"),
    "fedpaq identity": row("fedpaq", PLAIN, quantiser="identity"),
    "feddropoutavg": row("feddropoutavg", PLAIN, fdr=0.25),
    "feddropoutavg both": row("feddropoutavg", PLAIN, fdr=0.25, cdr=0.5),
    "feddropoutavg clients": row("feddropoutavg", PLAIN | {"cdr": Q(1, 4)}, fdr=0.0),
    "feddropoutavg nothing": row("feddropoutavg", PLAIN, fdr=0.0),
    "fedmut": row("fedmut", PLAIN | {"alpha": Q(1, 2)}),
    "fedmut broadcast": row("fedmut", {"alpha": Q(3, 2)}, relative="broadcast"),
    "fedlama": row("fedlama"),
    "fedlama every round": row("fedlama", period=1),
    "prunefl": row("prunefl", period=2, client=0),
    "prunefl times": row("prunefl", period=1, times=(1, 2), client=1, initial_steps=2),
    "prunefl all": row("prunefl", period=1, density=1.0, client=0),
}
ROWS = BASIC | ROOTS | FEWER
FULL_ONLY = {"fedlama", "fedpd", "fedpd exact", "fedmoswa fresh", "fedmoswa fresh same", "fa-nt-z", "fa-nt-z gradient",
             "scaffnew", "scaffnew free"}


#: FedLESAM's runs record the gradients at the points where it takes them, not at the local models
NOT_COMPARED = {"fedlesam": ("g",)}
#: seeds of instances whose balls are told apart, where those of seed 1 are not
SEEDS = {"fedsmoo": 0, "fedpaq whole": 4}
#: methods of very many outcomes
TOSSING = ("fedpaq", "feddropoutavg", "fedmut")


def noisy_client(name):
    """The client whose gradients have noise; the one that PruneFL asks first."""
    return (dict(ROWS[name][3]).get("client", 1),)


def replayed(name, sampling, seed=None, noisy=(), rounds=2, steps=2, equal=True):
    """A random exact instance of the row: the engine's environment, and the replay of its certificate. Clients of
    ``equal`` weight, or of any."""
    base, numbers, backend, options = ROWS[name]
    seed = SEEDS.get(name, 1) if seed is None else seed
    clients, participants = (2, 1) if base in TOSSING else (3, 1 if sampling in ("full", *INDEPENDENT) else 2)
    if sampling in INDEPENDENT:
        numbers = (*numbers, ("participation", Q(1, 3)))
    rounds = 1 if base in TOSSING[:2] and noisy else rounds
    sizes = tuple(pair for pair in options if pair[0] == "trackers")
    options = tuple(pair for pair in options if pair not in sizes)
    procedure = Procedure(base, options=options, sampling=sampling, equal_weights=equal)
    statement = Condition(E(objective(x_sampled[iterations])) - F_star, "<=", 0)
    variables = (*(Variable(number, "positive") for number, _ in numbers), *(Variable(size, "integer") for size, _ in sizes))
    claim = control("replay", "run", statement, procedure=procedure, variables=variables)
    steps = 1 if dict(options).get("solver") == "exact" else steps
    shape = Shape(clients, 0, 2, steps, rounds, participants, sampling, noisy, Q(1, 4), sizes, layers=(1, 1),
                  chance=chance_of(procedure, variables))
    if base == "fedpara":
        shape = FactoredClients(entries=2).fitting(shape)
    params = map_params(draw_params(claim, shape, 1, np.random.default_rng(seed)), _simple)
    params["start_offset"] = np.array([[Q(5, 4), Q(-3, 7), Q(1, 2), Q(-1, 3), Q(1, 5), Q(2, 3)][: shape.dim]])
    if "noise" in params:  # such that its mean is zero exactly, on balls too
        params["noise"] = np.array([[[Q(1, 2), Q(-1, 4)]] * len(noisy)])
    params |= {number: np.array([value]) for number, value in numbers}
    federation = federation_of(shape, params, backend)
    environment = simulate(claim, shape, params, backend, federation.with_layers(shape.layers))
    data = certificate(claim, environment, 1, 0)
    return environment, Instance(json.loads(json.dumps(data, default=str)))


def names_of(environment, name):
    states = [state for state in METHODS[ROWS[name][0]][1] if state in environment.bound]
    measured = [each for each in MEASURED if each not in NOT_COMPARED.get(ROWS[name][0], ())]
    return (*measured, *(state for state in states if state not in adaptive.BESIDE))
