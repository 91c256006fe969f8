"""The setting by which an engine is told how many processes read its texts."""

from typing import Annotated

from pydantic import Field

TextWorkerCount = Annotated[
    int | None,
    Field(
        ge=0,
        le=64,
        description="Processes that read texts beside the server's own, on Linux; unless set, one for two cores, at "
        "most 8, where a GPU speaks and the machine has four cores or more, else none.",
    ),
]
"""None is the usual number of `worker_count`."""
