"""Stability: two data sets that differ in one sample, the same draws on both: how far do the models get apart?"""

import marimo

app = marimo.App(width="medium", app_title="Stability")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import neighbouring_data as demo

    mo.md("# Stability")
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
    A method that hardly notices one sample cannot have learnt that sample by heart: its stability bounds its generalisation
    gap. Each grey line is one replaced sample; both runs have the same start, and draw the same sample numbers. Larger dots
    are the chosen numbers. For convex losses the theory says $2 \eta T G / (m n)$, with $T = K R$ steps: like $1/n$ and
    like $K$.

    ### Questions

    1. Linear samples attain the bound. Where do the dots leave the dotted lines all the same, and why?
    2. Take the sigmoid loss, which is not convex. Does the gap still grow like $K$?
    3. The gap grows with every round. Why is stopping early a way to generalise, and what does it cost?
    """)
    return


if __name__ == "__main__":
    app.run()
