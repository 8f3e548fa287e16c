# SPDX-License-Identifier: Apache-2.0
"""gru, rnn and the cells: composites, unrolled over the time steps. Float only; test_lstm.py has the
forms that all of them share."""

from torch import nn

from ..tester.suite import Case, op_suite


class Sequence(nn.Module):
    """All outputs: every step, and the last state."""

    def __init__(self, layer, *args, **options):
        super().__init__()
        self.layer = layer(*args, **options)

    def forward(self, x):
        return self.layer(x)


class OneStep(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell(6, 8)

    def forward(self, x, h):
        return self.cell(x, h)


class LstmStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(6, 8)

    def forward(self, x, h, c):
        return self.cell(x, (h, c))


def float_case(shapes, *args, **options):
    return Case(shapes, args, options, kinds=("MI",))


X = ((2, 5, 6),)
STEP = ((2, 6), (2, 8))

op_suite(
    "gru",
    Sequence,
    cases={
        "": float_case(X, nn.GRU, 6, 8, batch_first=True),
        "no_bias": float_case(X, nn.GRU, 6, 8, bias=False, batch_first=True),
        "layers2_bidirectional": float_case(
            X, nn.GRU, 6, 8, 2, batch_first=True, bidirectional=True
        ),
        "time_first": float_case(X, nn.GRU, 6, 8),
    },
)
op_suite(
    "rnn",
    Sequence,
    cases={
        "": float_case(X, nn.RNN, 6, 8, batch_first=True),
        "relu": float_case(X, nn.RNN, 6, 8, nonlinearity="relu", batch_first=True),
    },
)
op_suite(
    "recurrent_cell",
    OneStep,
    cases={
        "gru": float_case(STEP, nn.GRUCell),
        "rnn": float_case(STEP, nn.RNNCell),
    },
)
op_suite("lstm_cell", LstmStep, cases={"": float_case((*STEP, (2, 8)))})
