"""The functions on which a method is slowest.

Gradient descent with the step 1 on convex 1-smooth functions: the program's worst function, with the models of the
run on it.
"""

import fedtheory as ft
from verify.worst.function import worst_function
from verify.worst.function_figure import function_figure

found = ft.worst("fedavg", rounds=3, clients=1, eta_l=1.0, functions="smooth-convex", measure="value")
function_figure(worst_function(found)).savefig("worst_functions.svg")
