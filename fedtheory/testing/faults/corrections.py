"""Faults of corrections: pulls and duals (FedProx, FedDyn, FedADMM, A-FedPD), and control variates (SCAFFOLD, FedMoSWA)."""

from fedtheory.testing.faults.planting import Fault, Plant, change, edit, together
from synthetic.numbers.arrays import namespace

__all__ = ["FAULTS", "by_layer"]


def by_layer(context, v, radius=1):
    """``radius * v / |v|``, layer by layer."""
    xp, layers = namespace(v), [v[..., layer] for layer in context.federation.layers()]
    norms = [xp.sqrt(xp.sum(part**2, axis=-1, keepdims=True)) for part in layers]
    parts = [radius * part / xp.where(norm > 0, norm, norm + 1) for part, norm in zip(layers, norms, strict=True)]
    return xp.concat(parts, axis=-1)


def _pulled(along_what: str, *more: str) -> Plant:
    """Plants ``rho * along_what`` in place of ``rho (x_k - x)`` in the gradient."""
    return edit("correction.correct", AWAY, along_what, *more, by_layer=by_layer)


def _edit(name: str, *fragments: str) -> Plant:
    return edit(f"correction.{name}", *fragments)


def newcomers_elsewhere(self, original, local, context):
    """A client that takes part for the first time starts from the plain mean of the last uploads."""
    new = namespace(local.x).all(local.own["dual"] == 0, axis=-1, keepdims=True)
    plain = (context.x - context.state.server["dual"] / self.server_pull(context))[:, None, :]
    return original(local._replace(x=namespace(local.x).where(new, plain, local.x)), context)


def random_start(self, original, federation, x, draws):
    start = original(federation, x, draws)["variate"]
    numbers = draws.client_numbers(federation.clients)[..., None]
    coordinates = draws.client_numbers(federation.dim)[None]
    random = federation.backend.array(draws.normal(99, 0, numbers, coordinates, ndim=3))
    return {"variate": start + 0.1 * random}


def in_place(self, original, local, context):
    kept, others = original(local, context)
    array = local.own["variate"]
    if str(array.dtype) != "object":
        array[...] = kept["variate"]
    return {"variate": array}, others


AWAY = "(local.x - context.x[:, None, :])"
DUAL, NEW_DUAL = '(new if self.order == "next" else old)', "context.over_all(upload.model - context.x[:, None, :])"
LENGTH, FRESH = "context.algorithm.round_length(context)", "context.extra_gradient(x + 0 * local.x)"
TURNED = ('self.sign == "standard"', 'self.sign != "standard"')
ONE_ROUND, ALL_CLIENTS, ARRIVES = "one round: fedavg on other losses", "all clients: fedpd", "gets to the optimum"
LAM_MEAN, C_MEAN = "law: lam is the mean of the lam_k", "law: c is the mean of the c_k"
TERMS, OPTIMUM, LOSS, PARAMETER = "linear terms", "optimum", "units of the loss", "units of the parameter"
ONE_STEP = "law: after one local step c_k is the gradient at x"
AT_X, OPTION_I = "law: c_k is the gradient at the model of the round", {"option": "I"}

FAULTS = (
    # pulls and duals
    Fault("the proximal term is always zero: both models are one object", "fedprox", "KarhouTam/FL-bench#165",
          _pulled("0 * local.x"), ("hyper-parameters act", ONE_ROUND)),
    Fault("the proximal term is lost after the first local step", "fedprox", "docs/peers.md, fault 10 (Flower)",
          _pulled(f"{AWAY} * (context.step == 0)"), (ONE_ROUND, "hyper-parameters act")),
    Fault("the reference model is set anew before each step", "fedprox", "securefederatedai/openfederatedlearning#1634",
          together(_edit("begin", "return local", "return local.with_own(before=local.x)"), _pulled(
              '(local.x - local.own["before"])', "), local", "), local.with_own(before=local.x)")), (ONE_ROUND,)),
    Fault("the norm in the proximal term is not squared", "fedprox", "flwrlabs/flower#2210; docs/peers.md, fault 11",
          _pulled(f"along({AWAY}, 1)"), (PARAMETER,)),
    Fault("norms of layers, not squared, are summed", "fedprox", "ki-ljl/FedProx-PyTorch#1",
          _pulled(f"by_layer(context, {AWAY})"), (PARAMETER, "orthogonal maps")),
    Fault("the term's first half is overwritten by its second", "fedprox", "alpemreacar/FedDyn#1",
          _pulled("(0 * local.x - context.x[:, None, :])"), ("translation",)),
    Fault("the pull is to the origin", "fedprox", "litian96/FedProx#22", _pulled("local.x"), ("translation",)),
    Fault("the pull is to the mean of the local models", "fedprox", "general",
          _pulled("(local.x - local.x.mean(1)[:, None])"), ("own data only", ONE_ROUND)),
    Fault("the pull is away from the broadcast model", "fedprox", "general", _pulled(f"-{AWAY}"), (ONE_ROUND,)),
    Fault("the half of rho/2 survives the derivative", "fedprox", "litian96/FedProx#22", _pulled(f"{AWAY} / 2"),
          (ONE_ROUND,)),
    Fault("a fast path leaves out part of the correction", "fedprox", "general",
          together(_edit("correct", "return (g", "return 0.1 * local.x**3 + (g"), change("correction.fixed_in_round", True)),
          ("run and loop",)),
    Fault("FedDyn's h: sum of x_k - x for sum of (x_k - x)", "feddyn", "SMILELab-FL/FedLab#319; docs/peers.md, fault 9",
          _edit("aggregate", NEW_DUAL, "(context.over_all(upload.model) - context.x / context.federation.clients)"),
          ("translation", "common optimum")),
    Fault("FedDyn's h has the wrong sign", "feddyn", "general", _edit("aggregate", "old + rho", "old - rho"),
          (LAM_MEAN, ARRIVES)),
    Fault("h is added where it must be subtracted", "feddyn", "TsingZ0/PFLlib#29",
          _edit("aggregate", "average + ", "average - "), (ARRIVES, ALL_CLIENTS)),
    Fault("h is divided by the clients drawn", "feddyn", "TsingZ0/PFLlib#29", _edit("aggregate", "over_all", "average"),
          (LAM_MEAN,)),
    Fault("h is multiplied by rho where it must be divided", "feddyn", "general", _edit("aggregate", "/ rho", "* rho"),
          (LOSS, ALL_CLIENTS)),
    Fault("the dual enters the gradient with the wrong sign", "feddyn", "general", _edit("shift", "return ", "return -"),
          (OPTIMUM, TERMS)),
    Fault("the dual's change has the wrong sign", "feddyn", "docs/peers.md, fault 4 (Fluke)",
          _edit("renewed", "+ self.pull", "- self.pull"), (LAM_MEAN, ARRIVES)),
    Fault("rho is missing in the dual's change", "feddyn", "alpemreacar/FedDyn#2",
          _edit("renewed", "self.pull(context) * ", ""), (LOSS, LAM_MEAN)),
    Fault("the dual is replaced, not changed", "feddyn", "general", _edit("renewed", 'local.own["dual"] + ', ""),
          (LAM_MEAN, TERMS)),
    Fault("FedDyn's penalty does not reach the gradient", "feddyn", "docs/peers.md, fault 8 (FedLab)",
          _pulled("0 * local.x", "g + shift", "g"), (ALL_CLIENTS, OPTIMUM)),
    Fault("the norm in FedDyn's penalty is not squared", "feddyn", "unc-optimization/FedDR#1",
          _pulled(f"along({AWAY}, 1)"), (PARAMETER,)),
    Fault("with some clients a round only their duals are averaged", "feddyn", "docs/peers.md, fault 5 (Fluke)",
          _edit("aggregate", DUAL, "context.weighted_sum(context.rows(context.state.clients['dual']) + self.pull(context) * "
                "(upload.model - context.x[:, None, :]))"), (OPTIMUM,)),
    Fault("a client's first round starts from another model", "feddyn", "docs/peers.md, fault 6 (Fluke)",
          change("correction.begin", newcomers_elsewhere), (TERMS,)),
    Fault("absent clients' duals are not updated", "afedpd", "afedpd 3.4, virtual dual update",
          _edit("aggregate", " + rho * (average[:, None, :] - x)", ""), ("law: mean dual = rho_prox * step of x_bar",)),
    Fault("the model is sent with the dual of before the round", "fedadmm", "afedpd 3.2 against 3.3",
          _edit("sent_model", 'kept["dual"]', 'local.own["dual"]'), (ALL_CLIENTS,)),
    # control variates
    Fault("the whole control variate is sent, not its change", "scaffold", "TL-System/plato#382",
          _edit("finish", ' - local.own["variate"]', ""), (C_MEAN,)),
    Fault("1/local_steps in place of 1/(local_steps eta_l)", "scaffold", "TL-System/plato#386",
          _edit("renewed", LENGTH, "context.algorithm.local_steps"), (LOSS, ONE_STEP)),
    Fault("the steps of one epoch are counted for those of all", "scaffold", "TsingZ0/PFLlib#160",
          _edit("renewed", LENGTH, "context.algorithm.step_size(context)"), (ARRIVES,)),
    Fault("samples are counted for steps", "scaffold", "VectorInstitute/FL4Health#64",
          _edit("renewed", LENGTH, f"(4 * {LENGTH})"), (ONE_STEP,)),
    Fault("c_k is missing in its own renewal", "scaffold", "TL-System/plato#386",
          _edit("renewed", "self.ahead(local, context)", 'context.server("variate")'), (TERMS, OPTIMUM)),
    Fault("c is missing in the renewal of c_k", "scaffold", "ki-ljl/Scaffold-Federated-Learning#1",
          _edit("renewed", "- self.ahead(local, context)", '+ local.own["variate"]'), (ONE_STEP,)),
    Fault("the difference of models in the renewal has the wrong sign", "scaffold", "docs/peers.md, fault 1 (pfl)",
          _edit("renewed", "(x - local.x)", "(local.x - x)"), (ARRIVES, ONE_STEP)),
    Fault("the correction is added with the wrong sign", "scaffold", "fedbiomed/fedbiomed#734", _edit("shift", *TURNED),
          (OPTIMUM, TERMS)),
    Fault("the correction never reaches the gradient", "scaffold", "general",
          _edit("correct", "g + self.shift(local, context)", "g"), (OPTIMUM, ARRIVES)),
    Fault("c is added, c_k not subtracted", "scaffold", "general",
          _edit("correct", "self.shift(local, context)", 'context.server("variate")'),
          (ARRIVES, OPTIMUM, "one client, no noise: fedavg")),
    Fault("control variates start at random", "scaffold", "Xtra-Computing/NIID-Bench#8",
          change("correction.client_state", random_start), ("common optimum", C_MEAN, "seeds")),
    Fault("the change of c is divided by the clients drawn", "scaffold", "Xtra-Computing/NIID-Bench#12",
          _edit("aggregate", "over_all", "average"), (C_MEAN,)),
    Fault("clients forget their control variates", "scaffold", "flwrlabs/flower#1910",
          _edit("finish", 'return {"variate": new}', "return {}"), (C_MEAN, "no dead state")),
    Fault("control variates land at other clients", "scaffold", "FedML-AI/FedML#45",
          _edit("finish", '"variate": new', '"variate": namespace(new).flip(new, axis=1)'), (TERMS, "client order")),
    Fault("clients that were not drawn lose their control variates", "scaffold", "flwrlabs/flower#2216",
          edit("server_step", "_replace(", '_replace(clients={"variate": 0 * context.state.clients["variate"]}, '),
          ("who is not drawn keeps", C_MEAN)),
    Fault("one server variate is kept for all runs", "scaffold", "general",
          change("correction.server_state", lambda self, original, *arguments: {
              name: array[:1] for name, array in original(*arguments).items()}), ("shapes",)),
    Fault("the change of c is applied twice", "scaffold", "general", _edit("aggregate", "+ change}", "+ 2 * change}"),
          (C_MEAN,)),
    Fault("the old c stays in the sum of the changes", "scaffold", "general",
          _edit("aggregate", '"variate": context', '"variate": 1.5 * context'), (C_MEAN,)),
    Fault("the new control variate overwrites the old state", "scaffold", "general", change("correction.finish", in_place),
          ("purity", C_MEAN)),
    Fault("option I takes its gradient at the client's last model", "scaffold", "fedmoswa 3.4 c, a reading of the print",
          _edit("renewed", FRESH, "context.extra_gradient(local.x)"), (AT_X,), OPTION_I),
    Fault("option I's gradient has the wrong sign", "scaffold", "docs/peers.md, fault 2 (pfl)",
          _edit("renewed", FRESH, f"-{FRESH}"), (AT_X,), OPTION_I),
    Fault("all clients share one stored control variate", "scaffold", "docs/peers.md, fault 3 (pfl)",
          _edit("renewed", FRESH, f"0 * local.x + {FRESH}[:, -1:]"), (AT_X,), OPTION_I),
    Fault("the server step multiplies the model, not its change", "scaffold", "docs/peers.md, fault 7 (Fluke)",
          edit("aggregate", "return context.average", "return 1.5 * context.average"), ("common optimum",)),
    Fault("option I uses the first round's samples for ever", "scaffold", "general",
          _edit("renewed", FRESH, "context.gradient(x + 0 * local.x, 0)"), ("fresh samples",), OPTION_I),
    Fault("option I's gradient is not counted", "scaffold", "general", change("correction.extra_evaluations", 0),
          ("gradients counted",), OPTION_I),
    Fault("the control variate sent up is not counted", "scaffold", "MMorafah/FLIS#8", change("correction.up", 0),
          ("everything sent is counted",)),
    Fault("the control variate sent down is not counted", "scaffold", "MMorafah/FLIS#8", change("correction.down", 0),
          ("everything received is counted",)),
    Fault("the printed sign of (3): g + c_k - c", "scaffold", "fadamgc 3.5, eq. (3) as printed", _edit("shift", *TURNED),
          (OPTIMUM,), {"option": "average-gradient"}),
    Fault("the whole variate is sent, not its change from m", "fedmoswa", "fedmoswa 3.4 d, a reading of the print",
          _edit("finish", "new - known", "new"), ("descends",)),
)
