# SPDX-License-Identifier: Apache-2.0
"""Runs a .pte in Python: ExecuTorch's reader, PyTorch's kernels, tosa_reference_model where a
delegate stands.

It keeps the planned memory as the runtime would, in arenas with the file's offsets, so that a
wrong memory plan gives wrong numbers here as it does on the device.
"""

import numpy as np
import torch

from ..tosautil import TosaFile
from .oracles import reference_model


class Pte:
    """A program read by ExecuTorch's deserialiser. `delegates`: backend ids in order;
    `operators`: kernels by name."""

    def __init__(self, data):
        from executorch.exir._serialize._program import deserialize_pte_binary

        self.program = deserialize_pte_binary(data).program
        self.plan = self.program.execution_plan[0]
        self.delegates = [delegate.id for delegate in self.plan.delegates]
        self.operators = [
            f"{operator.name}.{operator.overload}" for operator in self.plan.operators
        ]

    def run(self, inputs, partitions, judge=reference_model):
        """Executes the first method on a list of arrays; `partitions` are the .tosa files of the
        delegates in order, which `judge` runs. Returns a list of arrays."""
        return Execution(self.program, self.plan, partitions, judge).run(inputs)


class Execution:
    """One run of a plan: arenas, values, instructions."""

    def __init__(self, program, plan, partitions, judge):
        self.program, self.plan, self.partitions, self.judge = program, plan, partitions, judge
        self.arenas = [
            torch.full((size,), 0xA5, dtype=torch.uint8) for size in plan.non_const_buffer_sizes
        ]
        self.values = [None] * len(plan.values)
        for index in range(len(plan.values)):
            self.values[index] = self.make(index)

    def make(self, index):
        """The Python value of an EValue; tensors are views of their arena or constant buffer."""
        value = self.plan.values[index].val
        kind = type(value).__name__
        if kind == "Tensor":
            return self.make_tensor(value)
        if kind == "Null":
            return None
        if kind in ("Int", "Double", "Bool", "String"):
            number = getattr(value, f"{kind.lower()}_val")
            return float(number) if kind == "Double" else number  # infinities are text
        if kind == "IntList":
            return [self.make(item) for item in value.items]
        if kind in ("DoubleList", "BoolList"):
            return list(value.items)
        if kind in ("TensorList", "OptionalTensorList"):
            return [None if item < 0 else self.make(item) for item in value.items]
        raise AssertionError(
            f"value {index} has the kind {kind}, which this interpreter does not know"
        )

    def make_tensor(self, tensor):
        dtype = torch_dtype(tensor.scalar_type)
        count = int(np.prod(tensor.sizes, dtype=np.int64))
        size = count * dtype.itemsize
        if tensor.allocation_info is not None:
            place = tensor.allocation_info
            start = place.memory_offset_low + (place.memory_offset_high << 32)
            storage = self.arenas[place.memory_id][start : start + size]
            assert (
                storage.numel() == size
            ), f"a tensor of {size} bytes at {start} leaves arena {place.memory_id}"
        elif tensor.data_buffer_idx > 0:
            data = self.program.constant_buffer[tensor.data_buffer_idx].storage
            storage = torch.tensor(bytearray(data[:size]), dtype=torch.uint8)
        else:
            storage = torch.zeros(size, dtype=torch.uint8)  # bound by the caller
        assert storage.storage_offset() % dtype.itemsize == 0, f"a {dtype} tensor is not aligned"
        strides, step = [0] * len(tensor.sizes), 1
        for axis in reversed(list(tensor.dim_order)):
            strides[axis] = step
            step *= tensor.sizes[axis]
        return (
            storage.view(dtype).as_strided(tuple(tensor.sizes), strides)
            if count
            else torch.empty(tensor.sizes)
        )

    def run(self, inputs):
        for index, array in zip(self.plan.inputs, inputs, strict=True):
            bound = self.values[index]
            assert (
                bound.shape == array.shape
            ), f"the program's input is {tuple(bound.shape)}, given {array.shape}"
            bound.copy_(torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape)))  # a scalar stays one
        for chain in self.plan.chains:
            for instruction in chain.instructions:
                arguments = instruction.instr_args
                kind = type(arguments).__name__
                if kind == "KernelCall":
                    self.call_kernel(self.plan.operators[arguments.op_index], arguments.args)
                elif kind == "DelegateCall":
                    self.call_delegate(self.partitions[arguments.delegate_index], arguments.args)
                elif kind == "MoveCall":
                    self.values[arguments.move_to] = self.values[arguments.move_from]
                else:
                    assert kind == "FreeCall", f"instruction {kind} is not known"
        return [self.values[index].clone().numpy() for index in self.plan.outputs]

    def call_kernel(self, operator, arguments):
        """Kernels are out-variants: the schema's arguments, among them the outputs, then the
        value returned."""
        namespace, name = operator.name.split("::")
        packet = getattr(getattr(torch.ops, namespace), name)
        overloads = packet.overloads()
        if operator.overload in overloads and namespace == "aten":
            overload = getattr(packet, operator.overload)
            bind_and_call(overload, [self.values[index] for index in arguments])
            return
        # PyTorch knows the functional form only: its result is copied to the program's output.
        overload = getattr(packet, "default" if "default" in overloads else overloads[0])
        output = self.values[arguments[-1]]
        output.copy_(bind_and_call(overload, [self.values[index] for index in arguments[:-2]]))

    def call_delegate(self, partition, arguments):
        file = TosaFile(partition)
        assert len(arguments) == len(file.inputs) + len(
            file.outputs
        ), f"{partition}: called with {len(arguments)} values"
        tensors = [self.values[index] for index in arguments]
        tensors = [in_memory_order(tensor) for tensor in tensors]
        given = {value.name: tensor.numpy() for value, tensor in zip(file.inputs, tensors)}
        given = {
            value.name: given[value.name].view(np.int8)
            if given[value.name].dtype == np.uint8  # TOSA has no unsigned tensors
            else given[value.name]
            for value in file.inputs
        }
        results = self.judge(partition, given)
        for value, tensor in zip(file.outputs, tensors[len(file.inputs) :], strict=True):
            assert (
                tuple(tensor.shape) == value.shape
            ), f"{partition}: output {value}, program has {tuple(tensor.shape)}"
            result = torch.from_numpy(results[value.name])
            tensor.copy_(result.view(torch.uint8) if tensor.dtype == torch.uint8 else result)


def in_memory_order(tensor):
    """The same memory as a tensor whose axes follow it: a delegate sees no more than the bytes."""
    nhwc = tensor.dim() == 4 and not tensor.is_contiguous()
    return tensor.permute(0, 2, 3, 1) if nhwc else tensor


def torch_dtype(scalar_type):
    """The torch dtype of a c10 scalar type number or enum."""
    numbers = (
        torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
        torch.float16, torch.float32,
        torch.float64,
        None, None, None, torch.bool,
    )  # fmt: skip
    return numbers[int(scalar_type)]


def bind_and_call(overload, values):
    """Calls an operator with values in schema order, as positional or keyword arguments as the
    schema asks."""
    positional, keywords = [], {}
    for argument, value in zip(overload._schema.arguments, values):
        if (
            isinstance(value, int)
            and str(argument.real_type) in ("int", "Optional[int]")
            and argument.name.endswith("dtype")
        ):
            value = torch_dtype(value)
        if argument.kwarg_only:
            keywords[argument.name] = value
        else:
            positional.append(value)
    return overload(*positional, **keywords)
