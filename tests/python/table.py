"""Reads both tables of a campaign with pyarrow: names, types and values have to be alike."""

import pathlib
import sys

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

folder = pathlib.Path(sys.argv[1])
typed = pyarrow.parquet.read_table(folder / "table.parquet")
# without the quotes of "", an empty cell is no value; types are those that Parquet tells
options = pyarrow.csv.ConvertOptions(column_types=typed.schema, strings_can_be_null=True)
plain = pyarrow.csv.read_csv(folder / "table.csv", convert_options=options)
assert typed.column_names == plain.column_names, (typed.column_names, plain.column_names)
for name in typed.column_names:
    assert typed[name].to_pylist() == plain[name].to_pylist(), name
kinds = {name: str(typed.schema.field(name).type) for name in typed.column_names}
assert kinds["case"] == "string" and kinds["seed"] == "int64", kinds
assert kinds["time_s"] == "double" and kinds["fell"] == "bool", kinds
assert pa.types.is_string(typed.schema.field("reason").type)
print(f"{typed.num_rows} rows, {typed.num_columns} columns alike")
