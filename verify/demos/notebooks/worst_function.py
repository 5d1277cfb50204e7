"""The worst function of a method: for every step there is a function that is as bad as the class allows, and the best
step makes two kinds of functions equally bad."""

import marimo

app = marimo.App(width="medium", app_title="The worst function of a method")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import worst_function as demo

    mo.md("# The worst function of a method")
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
    The black curve is the worst case over all functions of the class, in every dimension: a semidefinite program at every
    step. The right panel is a function that attains it, put together from the program's solution, with the method's ordinary
    run on it. For small steps it is flat (a Huber function: too slow), for large ones steep (a quadratic: it overshoots).

    ### Questions

    1. Drag the step through its best value. What happens to the worst function there?
    2. Take more rounds. Where does the best step move, and does it reach $2/L$?
    3. Compare FedAvg with SCAFFOLD at two local steps. Whose best step is longer, and why?
    """)
    return


if __name__ == "__main__":
    app.run()
