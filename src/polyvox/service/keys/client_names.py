"""Names of clients, by which they take turns and limits are counted: a key or an address, and what it does."""

_KEY, _JOB, _BATCH = "key ", "job ", " batch"


def key_client(owner: str) -> str:
    """The client of requests with a key."""
    return f"{_KEY}{owner}"


def job_client(owner: str) -> str:
    """The client of an owner's jobs."""
    return f"{_JOB}{owner}"


def batch_client(client: str) -> str:
    """The client of a client's batches."""
    return f"{client}{_BATCH}"


def owner_in(client: str) -> str | None:
    """The owner of the client's key; None where it is an address."""
    whole = address_in(client)
    prefix = next((each for each in (_KEY, _JOB) if whole.startswith(each)), None)
    return None if prefix is None else whole.removeprefix(prefix)


def address_in(client: str) -> str:
    """The client without what it does."""
    return client.removesuffix(_BATCH)
