"""The base of symbolic runs: the given quantities, by name."""

from verify.checker.intervals import dot
from verify.checker.limits import WorkLimit
from verify.checker.operators import exact, mean


class Instance:
    """``given`` has data and values, ``size`` the whole numbers."""

    def __init__(self, certificate, meter=None):
        self.meter = meter or WorkLimit()
        self.size, self.how, self.rules = (certificate[n] for n in ("sizes", "procedure", "definitions"))
        self.free, self.everywhere = certificate["free"], certificate["everywhere"]
        values = {n: v for n, v in certificate["values"].items() if not isinstance(v, dict)}  # others: a hypothesis says it
        parts = (certificate["instance"], certificate["sizes"], values)
        self.given = {n: exact(v) for part in parts for n, v in part.items()}

    def start(self):
        return self.given["x_star"] + self.given["start_offset"]

    def objective(self, v):
        return dot(self.main, [self.F(k, v) for k in self.all])

    def objective_grad(self, v):
        return mean(self.main, [self.grad(k, v) for k in self.all])

    def tau(self, t):
        return t - t % self.size["local_steps"]
