# SPDX-License-Identifier: Apache-2.0
"""torch.nn's transformer encoder (Vaswani et al., arXiv:1706.03762) over a sequence of features, with a
causal mask of -inf."""

import torch
from torch import nn


class MaskedEncoder(nn.Module):
    """Layers with relu and with gelu, normalised behind their sums; a linear layer for each step."""

    def __init__(self, width=16, heads=2, steps=10, classes=6):
        super().__init__()
        options = {"dim_feedforward": 2 * width, "batch_first": True}
        self.first = nn.TransformerEncoderLayer(width, heads, **options)
        self.second = nn.TransformerEncoderLayer(width, heads, activation="gelu", **options)
        self.classifier = nn.Linear(width, classes)
        self.mask = nn.Buffer(torch.full((steps, steps), -torch.inf).triu(1))

    def forward(self, x):
        x = self.second(self.first(x, src_mask=self.mask), src_mask=self.mask)
        return self.classifier(x)
