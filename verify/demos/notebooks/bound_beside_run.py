"""A bound beside its run: a theorem speaks of every function of a class, a run of one; between both lies the exact worst
case."""

import marimo

app = marimo.App(width="medium", app_title="A bound beside its run")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import bound_beside_run as demo

    mo.md("# A bound beside its run")
    return demo, live, mo


@app.cell
def _(controls, demo, live):
    found = demo.compute(**controls.value)
    live.picture(demo.picture(found), demo.caption(found))
    return (found,)


@app.cell
def _(demo, live):
    controls = live.controls(demo.CONTROLS)
    controls.vstack()
    return (controls,)


@app.cell
def _(mo):
    mo.md(r"""
    The black line is what the theorem prints, evaluated with the constants of this federation. The diamonds are the
    bound times its exact worst case: a semidefinite program over all functions of the theorem's class, in every
    dimension. No function of the class lies above them. The blue line is the mean of the runs with a 95 % band. What
    lies between line and diamonds the proof gives away; what lies between diamonds and runs is the price of speaking
    about every function.

    ### Questions

    1. Which of these theorems cannot be improved by any constant factor, at these numbers of clients, steps and rounds?
    2. Choose minimisers apart for the theorem about one minimiser. Which hypothesis fails, and why is nothing decided?
    3. For which theorem do the runs use the least of the bound? Does the proof lose it, or the federation?
    """)
    return


if __name__ == "__main__":
    app.run()
