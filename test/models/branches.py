# SPDX-License-Identifier: Apache-2.0
"""Networks whose paths part and meet again."""

import torch
from torch import nn

from .dscnn import conv_norm


class InceptionBlock(nn.Module):
    """Four paths into one concatenation (Szegedy et al., arXiv:1409.4842, figure 2b)."""

    def __init__(self, inputs, one, reduce3, three, reduce5, five, pooled):
        super().__init__()
        self.one = conv_norm(inputs, one, 1)
        self.three = nn.Sequential(conv_norm(inputs, reduce3, 1), conv_norm(reduce3, three, 3, 1, 1))
        self.five = nn.Sequential(conv_norm(inputs, reduce5, 1), conv_norm(reduce5, five, 5, 1, 2))
        self.pooled = nn.Sequential(nn.MaxPool2d(3, 1, 1), conv_norm(inputs, pooled, 1))

    def forward(self, x):
        return torch.cat([self.one(x), self.three(x), self.five(x), self.pooled(x)], 1)


class Inception(nn.Module):
    """Two blocks behind a stem, a pooling between them, and a classifier."""

    def __init__(self):
        super().__init__()
        self.stem = conv_norm(3, 16, 3, 2, 1)
        self.first = InceptionBlock(16, 8, 8, 16, 4, 8, 8)
        self.second = InceptionBlock(40, 16, 12, 24, 4, 8, 8)
        self.classifier = nn.Linear(56, 10)

    def forward(self, x):
        x = self.second(nn.functional.max_pool2d(self.first(self.stem(x)), 2))
        return self.classifier(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class UNet(nn.Module):
    """Two levels down and up again with skip connections (Ronneberger et al., arXiv:1505.04597);
    upsampling repeats pixels."""

    def __init__(self, channels=8, classes=3):
        super().__init__()
        c = channels
        self.down = nn.ModuleList([self.level(3, c), self.level(c, 2 * c)])
        self.bottom = self.level(2 * c, 4 * c)
        self.up = nn.ModuleList([self.level(6 * c, 2 * c), self.level(3 * c, c)])
        self.head = nn.Conv2d(c, classes, 1)

    @staticmethod
    def level(inputs, outputs):
        return nn.Sequential(conv_norm(inputs, outputs, 3, 1, 1), conv_norm(outputs, outputs, 3, 1, 1))

    def forward(self, x):
        skips = []
        for level in self.down:
            x = level(x)
            skips.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.bottom(x)
        for level in self.up:
            x = nn.functional.interpolate(x, scale_factor=2, mode="nearest")
            x = level(torch.cat([x, skips.pop()], 1))
        return self.head(x)
