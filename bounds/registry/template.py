"""The texts of a new file of claims, and of a new paper, from which users start."""

__all__ = ["PAPER", "TEMPLATE"]

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

#: the files of a new paper's folder
PAPER = {
    "paper.toml": '''\
# What all claims of this paper share. The files are data: nothing in them is run. docs/claims.md has the language in full.
#
#   fedtheory lint FOLDER          units, names, and whether the hypotheses can hold together
#   fedtheory verify FOLDER        the verdicts; the letters below are those of the report
#   fedtheory show FOLDER:ID       a claim as the referee reads it; --source prints its lines

[paper]
title = "Title"
authors = "A. Author"
venue = "where it is printed"
year = 2026
sections = ["theorems"]         # the other files of this folder, in the order of the paper

# name in formulas = the paper's letter, what it is, and for names of the paper's own their domain and unit
[names]
clients = ["m", "number of clients"]
local_steps = ["K", "local steps per round"]
rounds = ["T", "communication rounds"]
L = ["L", "smoothness of all clients"]
mu = ['\\mu', "strong convexity of all clients"]
"x_round[r]" = ["x^r", "the server's model before round r"]
step = ['\\eta', "the constant step size", "positive", "parameter^2/loss"]

# Abbreviations stand for a formula, a condition or a list; a reading may give them another meaning.
[let]
"D(v)" = "norm2(v - x_star)"
contraction = "1 - step*mu"
constant_step = ["eta_l[t] == step for each t", "step <= 1/L"]   # for each t: t in 0..iterations-1; k clients, r rounds

# The paper's assumptions by its numbers.
[assumptions.smooth]
id = "assumption-1"
name = "every client is L-smooth"
conditions = ["L_client[k] <= L for each k"]
[assumptions.strongly_convex]
id = "assumption-2"
name = "every client is mu-strongly convex"
conditions = ["mu_client[k] >= mu for each k"]
[assumptions.exact]
id = "assumption-3"
name = "exact gradients"
conditions = ["sigma_sq_client[k] <= 0 for each k"]

# Fields of every claim that does not give them.
[defaults]
method = "fedavg"               # a name of `fedtheory algorithms`
assume = ["smooth", "strongly_convex", "exact"]
variables = ["step"]
''',
    "theorems.toml": '''\
section = "Theorems"

[[claim]]
id = "theorem-1"
number = "Theorem 1"
reading = "one local step"
conditions = ["constant_step", "local_steps == 1"]
statement = "D(x_round[r+1]) <= contraction*D(x_round[r]) for each r"
[claim.readings.squared]        # FOLDER/theorem-1@squared: what differs
reading = "one local step, and the square that gradient descent has"
let = {contraction = "(1 - step*mu)**2"}
''',
}
