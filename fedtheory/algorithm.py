"""An algorithm: hyper-parameters and a few pure functions over explicit state."""

from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from fedtheory.client_steps import check_client_steps, client_steps_now, unless_done, working
from fedtheory.parts import ClientOptimiser, Correction, GradientOracle, ServerOptimiser, UploadFilter, joined
from fedtheory.returned import pair
from fedtheory.round_context import ClientState, RoundContext, State, Upload
from fedtheory.schedules import Schedule, check_schedule, value_at
from fedtheory.selection import Selection
from synthetic.base.checks import whole
from synthetic.base.display import RichDisplay, brief, changed

__all__ = ["Algorithm", "ClientState", "RoundContext", "State", "Upload"]

PARTS = {
    "oracle": GradientOracle, "correction": Correction, "client": ClientOptimiser, "server": ServerOptimiser,
    "upload": UploadFilter,
}


@dataclass(frozen=True)
class Algorithm(RichDisplay):
    """A federated method: hyper-parameters, and parts that compose (see ``fedtheory.parts``).

    With the default parts it is FedAvg. A new method defines a part, or overrides some of the functions below. All are
    pure.
    """

    eta_l: Any = 0.1  #: local step size: number, (runs,) array or Schedule
    local_steps: int = 1
    selection: Selection = field(default_factory=Selection)
    oracle: GradientOracle = field(default_factory=GradientOracle, kw_only=True)
    correction: Correction = field(default_factory=Correction, kw_only=True)
    client: ClientOptimiser = field(default_factory=ClientOptimiser, kw_only=True)
    server: ServerOptimiser = field(default_factory=ServerOptimiser, kw_only=True)
    upload: UploadFilter = field(default_factory=UploadFilter, kw_only=True)
    name: str = field(default="", kw_only=True)
    client_steps: Any = field(default=None, kw_only=True)  #: of each client, integers or RandomSteps; None: local_steps

    def __post_init__(self):
        object.__setattr__(self, "local_steps", whole("local_steps", self.local_steps))
        object.__setattr__(self, "name", self.name or type(self).__name__)
        object.__setattr__(self, "client_steps", check_client_steps(self.client_steps, self.local_steps))
        check_schedule("eta_l", self.eta_l)
        for name, kind in PARTS.items():
            part = getattr(self, name)
            if not isinstance(part, kind):
                raise ValueError(f"{name} must be a {kind.__name__}; got {part!r}")
        for part in self.parts:
            part.check(self)
        if self.client.solves and self.client_steps is not None:
            raise ValueError("client_steps count gradient steps, and a solved local problem has none")

    def __repr__(self) -> str:
        fixed = (f"{name}={brief(getattr(self, name), True)}" for name in ("eta_l", "local_steps"))
        return f"{self.name}({', '.join([*fixed, *changed(self, ('eta_l', 'local_steps', 'name'), True)])})"

    def _summary(self) -> str:
        return self.name

    def _table(self):
        own = {text.partition("=")[0] for text in changed(self, ("name",))} | {"eta_l", "local_steps"}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in PARTS and item.name in own:  # with the arguments that are as they are by default
                given = (f"{each.name}={brief(getattr(value, each.name))}" for each in fields(value))
                yield item.name, f"{type(value).__name__}({', '.join(given)})"
            elif item.name in own:
                yield item.name, value

    @property
    def parts(self) -> tuple:
        """The parts, in the order in which they act."""
        return tuple(getattr(self, name) for name in PARTS)

    def having(self, **changes) -> Self:
        """The same method with some fields replaced."""
        return replace(self, **changes)

    # hyper-parameters ------------------------------------------------------------------------------------------------
    def step_size(self, context: RoundContext):
        """Local step of this iteration, shaped to multiply (runs, participants, dim)."""
        return self.now(self.eta_l, context)

    @property
    def steps_alike(self) -> bool:
        """Whether all local steps have one length."""
        own = type(self)
        return not isinstance(self.eta_l, Schedule) and (own.step_size, own.now) == (Algorithm.step_size, Algorithm.now)

    def round_length(self, context: RoundContext):
        """Sum of the local steps of the round, shaped to multiply (runs, participants, dim)."""
        if self.client_steps is None and self.steps_alike:
            return sum([self.step_size(context)] * self.local_steps)
        contexts = [context._replace(iteration=context.round * self.local_steps + j) for j in range(self.local_steps)]
        if self.client_steps is None:
            return sum(self.step_size(each) for each in contexts)
        array = context.federation.backend.array
        return sum(array(working(each))[..., None] * self.step_size(each) for each in contexts)

    def steps_taken(self, context: RoundContext):
        """Number of local steps in the round, shaped to multiply (runs, participants, dim)."""
        if self.client_steps is None:
            return self.local_steps
        return context.federation.backend.array(context.rows(client_steps_now(context)))[..., None]

    def now(self, schedule, context: RoundContext):
        """A hyper-parameter (number, (runs,) array or schedule) now, shaped to multiply (runs, participants, dim)."""
        value = value_at(schedule, context.federation.backend, context.iteration, context.round, context.x.shape[0])
        return value[:, None, None] if getattr(value, "ndim", 0) == 1 else value

    def refuses(self, federation) -> str | None:
        """The reason, in words, why the method is undefined on a federation; None if it is defined."""
        return next((reason for part in self.parts if (reason := part.refuses(federation))), None)

    # a round -----------------------------------------------------------------------------------------------------------
    def init(self, federation, x, draws=None) -> State:
        """State before the first round, from the start ``x`` (runs, dim)."""
        if reason := self.refuses(federation):
            raise ValueError(reason)
        federation = copy(federation)
        federation.weights = self.selection.weights(federation)  # clients that never count have weight 0 in all means
        return State(x, *(joined(self.parts, state, federation, x, draws) for state in ("server_state", "client_state")))

    def broadcast(self, state: State):
        """The model that clients receive, (runs, dim)."""
        return self.server.broadcast(state)

    def client_models(self, state: State, x, federation):
        """Models from which all clients start a round, (runs, clients, dim): the broadcast model ``x``."""
        return federation.all_clients(x)

    def client_start(self, local: ClientState, context: RoundContext) -> ClientState:
        """The participants before their first local step; ``local`` has their models and the arrays that they kept."""
        for part in self.parts:
            local = part.begin(local, context)
        return local

    def client_step(self, local: ClientState, gradient, context: RoundContext) -> ClientState:
        """One local step. ``gradient(point)`` returns the stochastic gradient of this iteration at ``point``."""
        if self.client.solves:
            return self.client.solve(local, self.correction, context)
        oracle, correction, client = self.oracle, self.correction, self.client
        g, local = pair(oracle, "gradient", oracle.gradient(local, gradient, context), "a gradient", ClientState)
        g, local = pair(correction, "correct", correction.correct(g, local, context), "a gradient", ClientState)
        direction, local = pair(client, "direction", client.direction(g, local, context), "a direction", ClientState)
        direction = self.correction.after(direction, local, context)
        return local._replace(x=local.x - self.step_size(context) * direction)

    def after_step(self, before: ClientState, after: ClientState, context: RoundContext) -> ClientState:
        """``after`` a local step, but ``before`` for the participants that have taken all of their steps."""
        return after if self.client_steps is None else unless_done(before, after, context)

    def client_final(self, local: ClientState, context: RoundContext) -> tuple[Upload, dict]:
        """After the local steps: the messages of the participants, and the arrays that they keep, by name."""
        kept, others = self.correction.finish(local, context)
        model = self.correction.sent_model(local, kept, context)
        kept |= self.oracle.finish(local, context) | self.client.finish(local, context)
        if self.upload.whole:
            return Upload(model, others, self.upload.send(model, local, context)[1]), kept
        sent, floats, local = self.upload.send(model - local.own.get("start", context.models), local, context)
        return Upload(sent, others, floats), kept | self.upload.finish(local, context)

    def server_step(self, upload: Upload, context: RoundContext) -> State:
        """State after the round; ``context`` has the state before it and the aggregation weights."""
        average, server = self.aggregate(upload, context)
        corrected = self.correction.aggregate(average, upload, context)
        average, more = pair(self.correction, "aggregate", corrected, "a model", dict)
        x, last = pair(self.server, "step", self.server.step(average, context), "a model", dict)
        return context.state._replace(x=x, server=context.state.server | server | more | last)

    def aggregate(self, upload: Upload, context: RoundContext):
        """The average of the models (runs, dim) as the server sees it, and the upload filter's server arrays."""
        if self.upload.whole:
            return context.average(upload.model), {}
        mean = self.upload.combine(upload.model, context)
        change, server = self.upload.receive(mean, context)
        server = server | self.upload.learn(upload.model, mean, context)
        return context.apply_change(change), server

    def output(self, state: State):
        """The model that the method returns, (runs, dim)."""
        return self.server.output(state)

    # costs -------------------------------------------------------------------------------------------------------------
    def trains(self, context: RoundContext):
        """Truth values (runs | 1, clients): the clients that take the local steps of a round."""
        return self.selection.trains(context)

    def gradient_evaluations(self, context: RoundContext):
        """Stochastic gradients that each client evaluates in a round, (runs | 1, clients)."""
        steps = self.local_steps if self.client_steps is None else client_steps_now(context)
        own = 0 if self.client.solves else steps * self.oracle.evaluations
        return (own + self.correction.extra_evaluations) * self.trains(context)

    def floats(self, context: RoundContext, upload: Upload):
        """Floats sent (down to, up from) each client in a round, two arrays (runs | 1, clients).

        The model each way for the clients that train, and what the parts and the selection need besides.
        """
        dim, trains = context.federation.dim, self.trains(context)
        down, up = self.selection.floats(context, context.participation)
        down = down + dim * sum(part.extra_down(context) for part in self.parts) * trains
        more = dim * sum(part.extra_up(context) for part in self.parts)
        return down, up + (context.spread(upload.floats) - dim + more) * trains
