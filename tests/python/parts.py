"""Reads the parts of a campaign's table as one table, as pandas does: rows and values have to be
those of the whole table."""

import pathlib
import sys

import pyarrow.parquet

folder = pathlib.Path(sys.argv[1])
whole = pyarrow.parquet.read_table(folder / "table.parquet").sort_by("case")
parts = pyarrow.parquet.read_table(folder / "parts").sort_by("case")
assert sorted(whole.column_names) == sorted(parts.column_names), parts.column_names
for name in whole.column_names:
    assert whole[name].to_pylist() == parts[name].to_pylist(), name
print(f"{parts.num_rows} rows, {parts.num_columns} columns alike")
