# SPDX-License-Identifier: Apache-2.0
"""MobileNetV1 (Howard et al., arXiv:1704.04861), width 0.25, 96 x 96, as MLPerf Tiny's visual wake
words uses it."""

from torch import nn

from .dscnn import conv_norm

# Table 1 of the paper: output channels at width 1 and stride of each depthwise separable block.
BLOCKS = (
    (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1),
    (512, 1), (512, 1), (1024, 2), (1024, 1),
)  # fmt: skip


class MobileNetV1(nn.Module):
    def __init__(self, width=0.25, classes=2):
        super().__init__()
        channels = int(32 * width)
        layers = [conv_norm(3, channels, 3, 2, 1)]
        for outputs, stride in BLOCKS:
            outputs = int(outputs * width)
            layers.append(conv_norm(channels, channels, 3, stride, 1, groups=channels))
            layers.append(conv_norm(channels, outputs, 1))
            channels = outputs
        self.features = nn.Sequential(*layers)
        self.pool = nn.AvgPool2d(3)
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        return self.classifier(self.pool(self.features(x)).flatten(1))
