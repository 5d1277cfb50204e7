"""A counterexample found live: type an inequality about a run; the search looks for an instance that breaks it, and a
checker confirms it in fractions."""

import marimo

app = marimo.App(width="medium", app_title="A counterexample found live")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import live_counterexample as demo

    mo.md("# A counterexample found live")
    return demo, live, mo


@app.cell
def _(controls, demo, live):
    found = demo.compute(**controls.value, watch=live.live_output(demo))
    live.picture(demo.picture(found), demo.caption(found))
    return (found,)


@app.cell
def _(demo, live):
    controls = live.controls(demo.CONTROLS)
    controls.vstack()
    return (controls,)


@app.cell
def _(demo, found, live):
    live.file(demo.certificate(found), "certificate of the counterexample")
    return


@app.cell
def _(mo):
    mo.md(r"""
    The inequality is about every smooth and strongly convex federation with full gradients. It is read by the parser of the
    language of claims: names, numbers and operators, and nothing in it runs. The referee tries instances, small ones first.
    Where one breaks the inequality, it is made simple, written in fractions, and replayed by a checker that shares no code
    with the search. Without one the inequality is *consistent* with what was tried, which is no proof.

    Words: `x_round[r]` and `x_star`, `objective(v)` and `F_star`, `objective_grad(v)`, `norm2(v)` for $|v|^2$, `L`, `mu`,
    `eta_l[t]`, `rounds`, `local_steps`, `iterations`; `for r in 0..rounds-1`; `Sum(..., (k, 0, clients-1))`,
    `client_weight[k]`, `grad(k, v)`. Conditions are separated by `;`. The page on claims has all of the language.

    ### Questions

    1. The counterexample begins at the optimum. Add a term on the right that vanishes for one local step and for clients
       with one minimiser. What does the search say now?
    2. Type Drori and Teboulle's bound `objective(x_round[rounds]) - F_star <= L*norm2(x_round[0] - x_star)/(4*rounds + 2)`
       with the conditions `eta_l[t] == 1/L for t in 0..iterations-1; local_steps <= 1`. Then write 5 in place of 4. What has
       the counterexample in common with the demo worst-function?
    3. Choose SCAFFOLD for the first inequality. Its variates begin at zero; why does that break the inequality?
    """)
    return


if __name__ == "__main__":
    app.run()
