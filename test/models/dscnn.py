# SPDX-License-Identifier: Apache-2.0
"""DS-CNN-S for keyword spotting (Zhang et al., "Hello Edge", arXiv:1711.07128), 49 frames of 10
MFCCs, 12 classes."""

from torch import nn


def conv_norm(inputs, outputs, kernel, stride=1, padding=0, groups=1, activation=nn.ReLU):
    """A convolution without bias, its batch normalisation, and an activation (none if
    `activation` is None)."""
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, activation()) if activation else nn.Sequential(*layers)


class DsCnn(nn.Module):
    """One full convolution, four depthwise-separable blocks, a global average and a classifier."""

    def __init__(self, channels=64, blocks=4, classes=12):
        super().__init__()
        self.stem = conv_norm(1, channels, (10, 4), (2, 2), (5, 1))
        self.blocks = nn.Sequential(
            *[
                nn.Sequential(
                    conv_norm(channels, channels, 3, padding=1, groups=channels),
                    conv_norm(channels, channels, 1),
                )
                for _ in range(blocks)
            ]
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        return self.classifier(self.pool(self.blocks(self.stem(x))).flatten(1))
