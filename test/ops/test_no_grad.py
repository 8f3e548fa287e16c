# SPDX-License-Identifier: Apache-2.0
"""torch.no_grad() in forward(), which torch.export makes a graph within the graph."""

import torch
from torch import nn

from ..tester.suite import Case, op_suite


class NoGrad(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x):
        with torch.no_grad():
            y = self.first(x)
            z = y + 1
            with torch.enable_grad():
                product = self.second(x) * y
        with torch.no_grad():
            positive = torch.relu(product)
        return y * 2 + z, positive


class Written(nn.Module):
    """What is written in there is seen behind it."""

    def forward(self, x):
        y = x + 1
        with torch.no_grad():
            y.mul_(2)
        return y + x


class Frozen(nn.Module):
    """A backbone that is not trained."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        with torch.no_grad():
            features = self.backbone(x)
        return self.head(features.mean((2, 3)))


op_suite("no_grad", NoGrad, cases={"": Case(((4, 6),), kinds=("MI",))})
op_suite("no_grad_written", Written, cases={"": Case(((4, 6),), kinds=("MI",))})
op_suite("no_grad_frozen", Frozen, cases={"": Case(((1, 3, 6, 6),), kinds=("MI",))})
