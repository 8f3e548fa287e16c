# SPDX-License-Identifier: Apache-2.0
"""Networks of nothing but linear layers."""

from torch import nn


class Mlp(nn.Module):
    """A classifier of three layers with different activations."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU6(), nn.Linear(64, 10)
        )

    def forward(self, x):
        return self.layers(x)


class Autoencoder(nn.Module):
    """The anomaly detector of MLPerf Tiny (Banbury et al., arXiv:2106.07597): 640 inputs, four hidden
    layers of 128, a bottleneck of 8, and back."""

    def __init__(self):
        super().__init__()
        layers, inputs = [], 640
        for outputs in (128, 128, 128, 128, 8, 128, 128, 128, 128):
            layers += [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]
            inputs = outputs
        self.layers = nn.Sequential(*layers, nn.Linear(inputs, 640))

    def forward(self, x):
        return self.layers(x)
