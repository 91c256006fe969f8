"""The body of an error, in OpenAI's shape."""

from pydantic import BaseModel


class ErrorDetail(BaseModel):
    """The error in one sentence, and the field of the request at fault."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorBody(BaseModel):
    """The body of every error response."""

    error: ErrorDetail
