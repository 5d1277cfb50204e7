"""One file per method: its parts, its maker with the pseudocode, and its declared properties (see ``fedtheory.traits``).

Conventions of the pseudocode:

* A round. ``x`` is the server's model. Unless a method says otherwise, clients receive it and every sampled client k
  starts from ``x_k = x``. The lines are executed in their order, with the values that the lines above left; ``a+`` is a
  new value of ``a`` that replaces it at the end of the round. Lines with the index k are those of the sampled clients; the
  others keep their arrays. Arrays of clients and of the server are zero before the first round unless a method says
  otherwise.
* Gradients. ``g_k(y)`` is a stochastic gradient of client k at y. All g_k of one local step have the same samples or
  noise, and every local step new ones; one outside the local steps has samples of its own in every round.
* Means. "mean over sampled k of a_k", in short "mean of a_k", is ``sum over sampled k of w_k a_k``, and of models
  ``x + sum over sampled k of w_k (x_k - x)``, x the model that clients received. The weights w_k are those of ``fedavg``, by
  the scheme ``sampling``. Their sum W is 1 with all clients, with replacement, for ``bernoulli``, and with equal p_k without
  replacement; in the other cases it is 1 on average only, which is why models are averaged by their changes.
  "1/m * sum over sampled k of a_k" is ``sum over sampled k of q_k a_k``, and "mean over all k" is ``sum over k of q_k a_k``,
  with the shares q_k = p_k / sum of all p; m is the number of clients.
* Clients. A client that is drawn twice in a round takes part once: it takes its local steps once, sends one message, keeps
  one set of arrays, and enters "1/m * sum over sampled k" once; only w_k counts its draws. Clients without priority do not
  take part, and m and "all k" leave them out, unless a method says otherwise (FedALIGN and the baselines on all clients).
* Numbers. A hyper-parameter may be a number, one per run, or a schedule. In a local step a schedule has the value of that
  step, in lines of the server that of the round's last step, and ``rho_prox`` of duals that of the first. Where a schedule
  gives local steps of several lengths, or clients take their own numbers of steps (``client_steps``),
  ``local_steps * eta_l`` is the sum of the client's step sizes in the round.

A *specification* is our reading of a paper, block by block; methods have the ids of its blocks, and a confidence where the
paper leaves the rule open.
"""
