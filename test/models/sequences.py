# SPDX-License-Identifier: Apache-2.0
"""Networks on waveforms and on sequences of features or tokens."""

from torch import nn


class AudioNet(nn.Module):
    """One-dimensional convolutions on a waveform (M5 of Dai et al., arXiv:1610.00087), with fewer
    channels."""

    def __init__(self, channels=16, classes=10):
        super().__init__()
        layers, inputs = [], 1
        for outputs, kernel, stride in ((channels, 80, 4), (channels, 3, 1), (2 * channels, 3, 1)):
            layers += [
                nn.Conv1d(inputs, outputs, kernel, stride, bias=False),
                nn.BatchNorm1d(outputs),
                nn.ReLU(),
                nn.MaxPool1d(4),
            ]
            inputs = outputs
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(inputs, classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean(-1))


class GruTagger(nn.Module):
    """A label for each step of a sequence of features: two GRU layers, both directions, and a linear
    classifier."""

    def __init__(self, inputs=10, hidden=16, classes=8):
        super().__init__()
        self.gru = nn.GRU(inputs, hidden, 2, batch_first=True, bidirectional=True)
        self.classifier = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        return self.classifier(self.gru(x)[0])
