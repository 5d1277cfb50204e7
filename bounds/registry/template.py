"""The text of a new file of claims, from which users start."""

__all__ = ["TEMPLATE"]

TEMPLATE = '''\
# A file of claims for fedtheory. It is data: nothing in it is run. docs/claims.md has the language in full.
#
#   fedtheory show FILE            the claims as the referee reads them
#   fedtheory lint FILE            units, names, and whether the hypotheses can hold together
#   fedtheory verify FILE          the verdicts; --budget standard or thorough searches harder
#   fedtheory check CERTIFICATE --statement FILE

# Lists of conditions that several claims share.
[assumptions]
smooth = ["L_client[k] <= L for k in 0..clients-1"]
strongly_convex = ["mu_client[k] >= mu for k in 0..clients-1"]

[[claim]]
id = "mine/theorem-1"          # paper/block, or paper/block@reading
source = "my draft, Theorem 1"
method = "fedavg"              # a name of `fedtheory algorithms`
sampling = "full"              # or without-replacement, with-replacement, bernoulli, bernoulli-expected, li2020-scheme-2
assume = ["smooth", "strongly_convex", "sigma_sq_client[k] <= 0 for k in 0..clients-1"]

# Steps, sizes and numbers. `symbol == formula` defines the symbol.
conditions = ["eta_l[t] <= 1/L for t in 0..iterations-1", "local_steps == 1"]

# The least number that is at least the formula; a quantity with a name of its own; free numbers.
constants = {zeta_sq = "Mean(norm2(grad(k, x_star)), (k, 0, clients-1))"}
definitions = {"distance[r]" = "norm2(x_round[r] - x_star)"}
variables = {c = "nonnegative"}

statement = "distance[r+1] <= (1 - eta_l[r]*mu)*distance[r] + c*zeta_sq for r in 0..rounds-1"

# Another reading takes every field that it does not give from the claim that it extends.
[[claim]]
id = "mine/theorem-1@strict"
extends = "mine/theorem-1"
reading = "strictly less, away from the optimum"
statement = "distance[r+1] < distance[r] + c*zeta_sq for r in 0..rounds-1"

# There is a number such that ...; the witness, a value that may do, makes a claim of its own: mine/theorem-2@witness.
[[claim]]
id = "mine/theorem-2"
assume = ["smooth", "strongly_convex", "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
exists = {gamma = "(0, 2/L]"}
witness = {gamma = "1/L"}
conditions = ["eta_l[t] == gamma for t in 0..iterations-1", "local_steps == 1"]
statement = "norm2(x_round[1] - x_star) <= (1 - mu/L)*norm2(x_round[0] - x_star)"
'''
