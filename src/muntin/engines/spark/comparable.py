"""Values that Spark does not compare, as values that it does and that are equal where those are.

Maps become their entries, variants JSON, intervals of make_interval text; inside other types too.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    MapType,
    StructType,
    VariantType,
)


def comparable(value: Column, kind: DataType) -> Column:
    """The value as one that has an order."""
    match kind:
        case MapType():
            pairs = StructType().add("key", kind.keyType).add("value", kind.valueType)
            return comparable(F.map_entries(value), ArrayType(pairs))
        case ArrayType():
            return F.transform(value, lambda each: comparable(each, kind.elementType))
        case StructType():
            fields = [comparable(value[f.name], f.dataType).alias(f.name) for f in kind]
            return F.when(value.isNotNull(), F.struct(*fields))
        case VariantType():
            return F.to_json(value)
        case CalendarIntervalType():
            return value.cast("string")
    return value
