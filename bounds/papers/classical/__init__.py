"""Claims of textbooks and of the papers on which the refereed ones build: the referee's own controls."""

#: modules with claims, in the order of the paper; each has a tuple CLAIMS
MODULES = ("gradient_descent", "stability", "scaffold", "local_sgd", "rates", "sampled_rates", "coupled")
