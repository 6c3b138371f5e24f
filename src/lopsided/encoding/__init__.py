"""Columns of a table as rows of numbers, online: a schema learned from the first rows, kept, and enforced.

>>> from lopsided.encoding import TableEncoder, infer_schema
>>> head = {"amount": ["3", "", "5"], "country": ["NO", "SE", "NO"], "label": ["0", "1", "0"]}
>>> schema = infer_schema(head, label="label")
>>> print(schema)
amount   number, missing values are noted
country  category, hashed into 4 columns
>>> TableEncoder(schema).names
['amount', 'amount is missing', 'country #0', 'country #1', 'country #2', 'country #3']
"""

from lopsided.encoding.encoder import TableEncoder
from lopsided.encoding.inference import SchemaWarning, infer_schema
from lopsided.encoding.raw_cells import EncodedRows
from lopsided.encoding.schema import Column, Schema, SchemaError

__all__ = ["Column", "EncodedRows", "Schema", "SchemaError", "SchemaWarning", "TableEncoder", "infer_schema"]
