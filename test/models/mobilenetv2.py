# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 (Sandler et al., arXiv:1801.04381), width 1.0, 224 x 224, 1000 classes."""

import torch
from torch import nn

from .dscnn import conv_norm

# Table 2 of the paper: expansion, output channels, repetitions, stride of the first repetition.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


class InvertedResidual(nn.Module):
    """Expand by a 1x1 convolution, filter depthwise, project linearly; with a shortcut where
    shapes allow."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = inputs * expansion
        self.shortcut = stride == 1 and inputs == outputs
        layers = [] if expansion == 1 else [conv_norm(inputs, hidden, 1, activation=nn.ReLU6)]
        layers.append(conv_norm(hidden, hidden, 3, stride, 1, groups=hidden, activation=nn.ReLU6))
        layers.append(conv_norm(hidden, outputs, 1, activation=None))
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.body(x) if self.shortcut else self.body(x)


class MobileNetV2(nn.Module):
    """The 17 blocks between a strided stem and a 1280-channel head, then average pooling and a
    classifier."""

    def __init__(self, classes=1000):
        super().__init__()
        layers, channels = [conv_norm(3, 32, 3, 2, 1, activation=nn.ReLU6)], 32
        for expansion, outputs, repetitions, stride in STAGES:
            for repetition in range(repetitions):
                layers.append(
                    InvertedResidual(channels, outputs, 1 if repetition else stride, expansion)
                )
                channels = outputs
        layers.append(conv_norm(channels, 1280, 1, activation=nn.ReLU6))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, classes))

    def forward(self, x):
        pooled = nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(torch.flatten(pooled, 1))
