"""The part of the `tensorrt` module that the executor uses, with ONNX Runtime in place of a GPU.

It checks what TensorRT would: that every dynamic input has a profile, that shapes lie within it, and that every
tensor has an address. A plan is the ONNX graph with its profile before it.
"""

import ctypes
import enum
import json
import math
from typing import ClassVar

import numpy as np

from polyvox.onnx_session import open_session

__version__ = "10.0.fake"

TensorIOMode = enum.Enum("TensorIOMode", "INPUT OUTPUT")
DataType = enum.Enum("DataType", "FLOAT HALF INT32 INT64")
MemoryPoolType = enum.Enum("MemoryPoolType", "WORKSPACE")
BuilderFlag = enum.Enum("BuilderFlag", "FP16")
_TYPES = {"tensor(float)": (DataType.FLOAT, np.float32), "tensor(int64)": (DataType.INT64, np.int64)}


class Logger:
    WARNING = 2

    def __init__(self, level):
        self.level = level


class _Network:
    graph = b""


class OnnxParser:
    num_errors = 1

    def __init__(self, network, logger):
        self._network = network

    def parse(self, content):
        self._network.graph = content
        return content.startswith(b"\x08")

    def get_error(self, index):
        return "no graph"


class _Profile:
    def __init__(self):
        self.shapes = {}

    def set_shape(self, name, least, usual, most):
        assert all(a <= b <= c for a, b, c in zip(least, usual, most, strict=True))
        self.shapes[name] = (least, most)


class _Config:
    def __init__(self):
        self.profile, self.limits, self.flags = None, {}, set()

    def set_memory_pool_limit(self, pool, count):
        self.limits[pool] = count

    def set_flag(self, flag):
        self.flags.add(flag)

    def add_optimization_profile(self, profile):
        self.profile = profile


class Builder:
    made: ClassVar[list] = []

    def __init__(self, logger):
        self.config = _Config()
        type(self).made.append(self)

    def create_network(self, flags):
        return _Network()

    def create_builder_config(self):
        return self.config

    def create_optimization_profile(self):
        return _Profile()

    def build_serialized_network(self, network, config):
        session = open_session(network.graph)
        assert {each.name for each in session.get_inputs()} == set(config.profile.shapes)
        profile = json.dumps(config.profile.shapes).encode()
        return memoryview(len(profile).to_bytes(4, "big") + profile + network.graph)


class Runtime:
    refuses = False
    """Whether it cannot read plans, as one of another release."""

    def __init__(self, logger):
        pass

    def deserialize_cuda_engine(self, plan):
        return None if type(self).refuses else _Engine(bytes(plan))


class _Engine:
    def __init__(self, plan):
        size = int.from_bytes(plan[:4], "big")
        self.profile = json.loads(plan[4 : 4 + size])
        self.session = open_session(plan[4 + size :])
        self.inputs = {each.name: each for each in self.session.get_inputs()}
        self.outputs = {each.name: each for each in self.session.get_outputs()}
        self.names = [*self.inputs, *self.outputs]
        self.num_io_tensors = len(self.names)

    def get_tensor_name(self, index):
        return self.names[index]

    def get_tensor_mode(self, name):
        return TensorIOMode.INPUT if name in self.inputs else TensorIOMode.OUTPUT

    def get_tensor_dtype(self, name):
        return _TYPES[(self.inputs | self.outputs)[name].type][0]

    def create_execution_context(self):
        return _Context(self)


class _Context:
    def __init__(self, engine):
        self._engine, self._shapes, self._addresses, self._results = engine, {}, {}, None

    def set_input_shape(self, name, shape):
        least, most = self._engine.profile[name]
        self._shapes[name], self._results = shape, None
        return all(a <= b <= c for a, b, c in zip(least, shape, most, strict=True))

    def set_tensor_address(self, name, address):
        assert address, f"{name} has no address"
        self._addresses[name] = address

    def get_tensor_shape(self, name):
        return self._run()[name].shape

    def _run(self):
        """What TensorRT infers from shapes alone, this learns by running the graph once its inputs are there."""
        if self._results is None:
            given = {name: self._read(name) for name in self._engine.inputs}
            names = list(self._engine.outputs)
            self._results = dict(zip(names, self._engine.session.run(names, given), strict=True))
        return self._results

    def _read(self, name):
        kind, shape = _TYPES[self._engine.inputs[name].type][1], self._shapes[name]
        count = math.prod(shape)
        content = ctypes.string_at(self._addresses[name], count * np.dtype(kind).itemsize)
        return np.frombuffer(content, kind).reshape(shape)

    def execute_async_v3(self, stream):
        for name, result in self._run().items():
            if result.size:
                content = np.ascontiguousarray(result)
                ctypes.memmove(self._addresses[name], content.ctypes.data, content.nbytes)
        return True
