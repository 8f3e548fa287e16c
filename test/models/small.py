# SPDX-License-Identifier: Apache-2.0
"""Small networks, each with one property that a compiler easily gets wrong."""

import torch
from torch import nn


class Add(nn.Module):
    """x + x: both operands are the same value."""

    def forward(self, x):
        return x + x


class Sub(nn.Module):
    """a - b with equal shapes: swapped inputs show up as a changed sign, which a sum would hide."""

    def forward(self, a, b):
        return a - b


class LinearRelu(nn.Module):
    """Two linear layers around a relu."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(16, 24), nn.Linear(24, 10)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class CatBlock(nn.Module):
    """Three convolution branches with relu, relu6 and hardtanh, concatenated, then mixed by a 1x1
    convolution."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.narrow = nn.Sequential(nn.Conv2d(3, 8, 1), nn.ReLU6())
        self.signed = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.Hardtanh())
        self.mix = nn.Conv2d(20, 6, 1)

    def forward(self, x):
        return self.mix(torch.cat([self.wide(x), self.narrow(x), self.signed(x)], 1))


class LeakyRelu(nn.Module):
    """Convolutions with leaky_relu of the default slope, a larger one and one above 1 (where min
    and max swap).

    It ends in a convolution: XNNPACK's quantiser gives a leaky_relu parameters only where a
    quantised consumer asks.
    """

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.LeakyReLU(0.01),
            nn.Conv2d(8, 8, 3, padding=1), nn.LeakyReLU(0.3),
            nn.Conv2d(8, 8, 1), nn.LeakyReLU(1.5),
            nn.Conv2d(8, 4, 1),
        )  # fmt: skip

    def forward(self, x):
        return self.layers(x)


class LstmClassifier(nn.Module):
    """An LSTM over a sequence (batch first); the last step goes to a linear classifier."""

    def __init__(self, layers=1, inputs=10, hidden=16, classes=12, bidirectional=False):
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, layers, batch_first=True, bidirectional=bidirectional)
        self.classifier = nn.Linear(hidden * (2 if bidirectional else 1), classes)

    def forward(self, x):
        steps, _ = self.lstm(x)
        return self.classifier(steps[:, -1])


class ThreePartitions(nn.Module):
    """A padded stride-4 convolution, which Ethos-U55 cannot run, between two convolutions that it
    can.

    (Vela takes some convolutions of stride 4 without padding, by splitting them.)"""

    def __init__(self):
        super().__init__()
        self.before = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.strided = nn.Conv2d(8, 8, 4, 4, padding=1)
        self.after = nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x):
        return self.after(torch.relu(self.strided(self.before(x))))


class TwoOutputs(nn.Module):
    """Two outputs of different shapes from a shared trunk."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.left, self.right = nn.Conv2d(8, 4, 1), nn.Conv2d(8, 2, 3, 2, 1)

    def forward(self, x):
        shared = self.trunk(x)
        return self.left(shared), self.right(shared)


class InputIsOutput(nn.Module):
    """Returns its own input beside a computed output."""

    def forward(self, x):
        return x, x + x


class OutputTwice(nn.Module):
    """Returns the same value under two output slots, and uses it inside once more."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x):
        y = self.conv(x)
        return y, torch.relu(y), y
