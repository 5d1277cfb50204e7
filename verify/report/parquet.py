"""The verdicts as a Parquet file, for who reads them with pandas, DuckDB or R."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from verify.results.files import replacing
from verify.results.records import FIELDS, as_record
from verify.results.verdict import Verdict

__all__ = ["HINT", "save_parquet"]

HINT = "verdicts.parquet needs the package pyarrow: pip install 'fedtheory[report]'"


def save_parquet(verdicts: Iterable[Verdict], out: str | Path) -> Path | None:
    """Write ``out/verdicts.parquet``, whole or not at all: a column per field of ``verdicts.json``.

    Columns besides: ``paper``; ``details``, the rest as JSON text. A ratio that is infinite is infinite.

    Returns:
        Its path; None where pyarrow is not installed (see ``HINT``).
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return None
    text, number, whole = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
    kinds = dict.fromkeys(("paper", *FIELDS, "details"), text) | {"ratio": number, "seconds": number, "seed": whole}
    rows = []
    for verdict in verdicts:
        record = as_record(verdict)
        details = json.dumps(record.pop("details", {}), ensure_ascii=False, allow_nan=False)
        rows.append({"paper": verdict.id.split("/")[0], **record, "ratio": verdict.ratio, "details": details})
    table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(list(kinds.items())))
    path = Path(out) / "verdicts.parquet"
    with replacing(path) as temporary:
        parquet.write_table(table, temporary, compression="zstd")
    return path
