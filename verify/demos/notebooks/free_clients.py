"""Alignment of free clients: free clients help against noise as long as their loss matches the objective; a threshold on
the mismatch tells them apart."""

import marimo

app = marimo.App(width="medium", app_title="Alignment of free clients")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import free_clients as demo

    mo.md("# Alignment of free clients")
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
    Only four priority clients define the objective. Eight more offer their gradients: four have minimisers near the
    objective's, four have not. FedALIGN counts a free client in a round if $|F_k(x) - F(x)| < \epsilon$. At zero nobody
    counts; beyond every line on the right everybody does.

    ### Questions

    1. Set $\sigma = 0$. Do near free clients still help? What do they cost?
    2. Find the threshold with the least loss in the last rounds. What does it depend on: $\sigma$, or the far ones?
    3. At the start some far clients count. Which ones, and when would a warm-up help?
    """)
    return


if __name__ == "__main__":
    app.run()
