"""The services' messages, from the descriptors that ship with the package.

The `.proto` texts beside them are for those who compile clients; `make protos` writes the descriptors from them. Python
code generated from the texts would have to fit whichever version of protobuf is installed; descriptors fit all.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Protocol

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

COSYVOICE = "cosyvoice.CosyVoice"
SPEECH = "polyvox.v1.Speech"
DOOR_NAMES: Mapping[str, str] = MappingProxyType({COSYVOICE: "cosyvoice-grpc", SPEECH: "grpc"})
"""The names of services that speak, in logs and metrics."""


class Message(Protocol):
    """A message of any type; its fields are attributes."""

    def __getattr__(self, name: str) -> Any: ...  # noqa: ANN401 - the type is the field's


class MessageType(Protocol):
    """The class of a message."""

    def __call__(self, **fields: object) -> Message: ...

    def FromString(self, data: bytes) -> Message: ...  # noqa: N802 - protobuf's own name


class Method(Protocol):
    """One method of a service, as in its descriptor."""

    name: str
    containing_service: Any
    client_streaming: bool
    server_streaming: bool
    input_type: Any
    output_type: Any


@cache
def descriptors() -> DescriptorPool:
    """A pool of our own: clients in this process may have compiled the same names in their way."""
    pool = DescriptorPool()
    for standard in (health_pb2, reflection_pb2):
        pool.AddSerializedFile(standard.DESCRIPTOR.serialized_pb)
    data = (files("polyvox.api.dialects.grpc") / "protos" / "services.binpb").read_bytes()
    for file in FileDescriptorSet.FromString(data).file:
        pool.Add(file)
    return pool


def methods_of(service: str) -> Mapping[str, Method]:
    """The methods of a service, by name."""
    found: Mapping[str, Method] = descriptors().FindServiceByName(service).methods_by_name
    return found


@cache
def message_type(name: str) -> MessageType:
    """The class of a message by its full name."""
    return class_of(descriptors().FindMessageTypeByName(name))


def class_of(descriptor: Any) -> MessageType:  # noqa: ANN401 - protobuf has no types
    """The class of a message by its descriptor."""
    found: MessageType = GetMessageClass(descriptor)
    return found
