# SPDX-License-Identifier: Apache-2.0
"""Residual networks (He et al., arXiv:1512.03385): ResNet-18 for images, and the small one of
MLPerf Tiny (Banbury et al., arXiv:2106.07597) for 32 x 32 pictures."""

import torch
from torch import nn


def conv_norm(inputs, outputs, kernel, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, bias=False),
        nn.BatchNorm2d(outputs),
    )


class BasicBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut, which a 1x1 convolution brings to the same shape."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = conv_norm(inputs, outputs, 3, stride)
        self.second = conv_norm(outputs, outputs, 3)
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else conv_norm(inputs, outputs, 1, stride)

    def forward(self, x):
        y = self.second(torch.relu(self.first(x)))
        return torch.relu(y + self.shortcut(x))


class ResNet(nn.Module):
    """A stem, stages of (channels, stride) blocks, average pooling and a classifier."""

    def __init__(self, stem, channels, stages, classes):
        super().__init__()
        self.stem = stem
        blocks = []
        for outputs, stride in stages:
            blocks.append(BasicBlock(channels, outputs, stride))
            channels = outputs
        self.blocks = nn.Sequential(*blocks)
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.classifier(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class ResNet8(ResNet):
    """MLPerf Tiny's image classifier: 16, 32 and 64 channels."""

    def __init__(self):
        stem = nn.Sequential(conv_norm(3, 16, 3), nn.ReLU())
        super().__init__(stem, 16, ((16, 1), (32, 2), (64, 2)), 10)


class ResNet18(ResNet):
    """Table 1 of the paper, 18 layers."""

    def __init__(self, classes=1000):
        stem = nn.Sequential(conv_norm(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        stages = [(c, s if i == 0 else 1) for c, s in ((64, 1), (128, 2), (256, 2), (512, 2)) for i in range(2)]
        super().__init__(stem, 64, stages, classes)
