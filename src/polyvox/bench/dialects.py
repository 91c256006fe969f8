"""The dialects that `polyvox bench` knows."""

from polyvox.bench.cosyvoice_dialects import COSYVOICE_DIALECT, GRPC_DIALECT, RAYSERVE_DIALECT
from polyvox.bench.dialect import Dialect, OpenAIDialect
from polyvox.errors import InvalidRequestError

DIALECTS: tuple[Dialect, ...] = (OpenAIDialect(), COSYVOICE_DIALECT, RAYSERVE_DIALECT, GRPC_DIALECT)


def dialect_named(name: str) -> Dialect:
    """The dialect of that name."""
    for dialect in DIALECTS:
        if dialect.name == name:
            return dialect
    known = ", ".join(dialect.name for dialect in DIALECTS)
    raise InvalidRequestError(f"Unknown dialect {name!r}; choose one of: {known}.", field="dialect")
