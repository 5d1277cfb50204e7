"""Communication recycled: a layer whose update is small next to its weights may repeat the last one instead of sending
it."""

import marimo

app = marimo.App(width="medium", app_title="Communication recycled")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import recycled_layers as demo

    mo.md("# Communication recycled")
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
    The model has four layers with curvatures from 10 down to 1/4. FedLUAR draws the layers that are not sent, with
    probabilities in proportion to $|x_l| / |\Delta_l|$; the server applies their last update again. Steep layers have
    arrived after a few rounds, and are hardly sent any more (right). The axis on the left counts floats, not rounds.

    ### Questions

    1. At which number of recycled layers does FedLUAR need more floats than FedAvg for the same loss?
    2. Draw the layers uniformly, then inverted. What is the rule worth on this problem?
    3. A recycled update is repeated as it was. What goes wrong at the largest step, and why first in the steep layers?
    """)
    return


if __name__ == "__main__":
    app.run()
