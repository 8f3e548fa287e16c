# SPDX-License-Identifier: Apache-2.0
"""lstm: a composite with three outputs, unrolled over the time steps. Float only."""

import torch
from torch import nn

from ..tester.suite import Case, op_suite


class Lstm(nn.Module):
    """All three outputs: every step, the last hidden state, the last cell state."""

    def __init__(self, *args, **options):
        super().__init__()
        self.lstm = nn.LSTM(*args, **options)

    def forward(self, x):
        steps, (hidden, cell) = self.lstm(x)
        return steps, hidden, cell


class LstmWithState(nn.Module):
    """Initial states are inputs."""

    def __init__(self, *args, **options):
        super().__init__()
        self.lstm = nn.LSTM(*args, **options)

    def forward(self, x, hidden, cell):
        return self.lstm(x, (hidden, cell))[0]


class LstmLast(nn.Module):
    """Only the last step is used, as in a classifier."""

    def __init__(self, *args, **options):
        super().__init__()
        self.lstm = nn.LSTM(*args, **options)

    def forward(self, x):
        return torch.relu(self.lstm(x)[0][:, -1])


def float_case(shapes, *args, **options):
    return Case(shapes, args, options, kinds=("MI",))


op_suite(
    "lstm",
    Lstm,
    cases={
        "": float_case(((1, 5, 6),), 6, 8, batch_first=True),
        "no_bias": float_case(((1, 5, 6),), 6, 8, bias=False, batch_first=True),
        "time_first": float_case(((5, 1, 6),), 6, 8),
        "batch3": float_case(((3, 5, 6),), 6, 8, batch_first=True),
        "batch3_time_first": float_case(((5, 3, 6),), 6, 8),
        "one_step": float_case(((1, 1, 6),), 6, 8, batch_first=True),
        "layers2": float_case(((1, 5, 6),), 6, 8, 2, batch_first=True),
        "layers3_no_bias": float_case(((1, 4, 6),), 6, 5, 3, bias=False, batch_first=True),
        "bidirectional": float_case(((1, 5, 6),), 6, 8, batch_first=True, bidirectional=True),
        "bidirectional_layers2": float_case(
            ((2, 4, 6),), 6, 8, 2, batch_first=True, bidirectional=True
        ),
    },
)
op_suite(
    "lstm_state",
    LstmWithState,
    cases={
        "": float_case(((1, 5, 6), (1, 1, 8), (1, 1, 8)), 6, 8, batch_first=True),
        "layers2": float_case(((2, 5, 6), (2, 2, 8), (2, 2, 8)), 6, 8, 2, batch_first=True),
    },
)
op_suite("lstm_last", LstmLast, cases={"": float_case(((1, 12, 10),), 10, 16, batch_first=True)})
