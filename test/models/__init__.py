# SPDX-License-Identifier: Apache-2.0
"""Reference networks: written from the published architectures, random weights of a fixed seed,
conditioned.

    model, inputs = make("dscnn")

Needs torch only.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Callable

import torch

from .branches import Inception, UNet
from .conditioning import condition, sample_inputs, spread, structured
from .dense import Autoencoder, Mlp
from .dscnn import DsCnn
from .encoder import MaskedEncoder
from .mobilenetv1 import MobileNetV1
from .mobilenetv2 import MobileNetV2
from .resnet import ResNet8, ResNet18
from .sequences import AudioNet, GruTagger
from .small import (
    Add, CatBlock, InputIsOutput, LeakyRelu, LinearRelu, LstmClassifier, OutputTwice, Sub,
    ThreePartitions, TwoOutputs,
)  # fmt: skip
from .vit import VisionTransformer

__all__ = ["NETS", "Net", "condition", "make", "sample_inputs", "spread", "structured"]


@dataclass(frozen=True)
class Net:
    """A factory and the shapes of its float inputs, by input name in the order of `forward`."""

    factory: Callable
    inputs: dict = field(default_factory=dict)

    @property
    def shapes(self):
        return tuple(self.inputs.values())


IMAGE = {"x": (1, 3, 16, 16)}
SEQUENCE = {"x": (1, 12, 10)}
NETS = {
    "add": Net(Add, {"x": (1, 16)}),
    "sub": Net(Sub, {"a": (1, 4, 8, 8), "b": (1, 4, 8, 8)}),
    "linear": Net(LinearRelu, {"x": (4, 16)}),
    "dscnn": Net(DsCnn, {"x": (1, 1, 49, 10)}),
    "mlp": Net(Mlp, {"x": (1, 32)}),
    "autoencoder": Net(Autoencoder, {"x": (4, 640)}),
    "mv1": Net(MobileNetV1, {"x": (1, 3, 96, 96)}),
    "resnet8": Net(ResNet8, {"x": (1, 3, 32, 32)}),
    "resnet18": Net(ResNet18, {"x": (1, 3, 64, 64)}),
    "inception": Net(Inception, {"x": (1, 3, 32, 32)}),
    "unet": Net(UNet, {"x": (1, 3, 32, 32)}),
    "audio": Net(AudioNet, {"x": (1, 1, 2000)}),
    "gru": Net(GruTagger, {"x": (1, 8, 10)}),
    "mv2": Net(MobileNetV2, {"x": (1, 3, 224, 224)}),
    "cat": Net(CatBlock, IMAGE),
    "leaky_relu": Net(LeakyRelu, IMAGE),
    "lstm": Net(LstmClassifier, SEQUENCE),
    "lstm2": Net(partial(LstmClassifier, layers=2), SEQUENCE),
    "encoder": Net(MaskedEncoder, {"x": (1, 10, 16)}),
    "vit": Net(
        partial(VisionTransformer, depth=1, width=48, patch=4, image=16, classes=10), IMAGE
    ),
    "deit": Net(VisionTransformer, {"x": (1, 3, 224, 224)}),
    "three_parts": Net(ThreePartitions, IMAGE),
    "two_outputs": Net(TwoOutputs, IMAGE),
    "input_is_output": Net(InputIsOutput, {"x": (1, 4, 8, 8)}),
    "output_twice": Net(OutputTwice, IMAGE),
}


def make(name, **options):
    """Returns (model in eval mode, example inputs); the same weights on every call."""
    net = NETS[name]
    torch.manual_seed(0)
    model = condition(net.factory(**options), net.shapes)
    return model, sample_inputs(net.shapes, 1, 3)[0]
