# SPDX-License-Identifier: Apache-2.0
"""scaled_dot_product_attention: masks of every kind, scales, grouped queries, and the modules of
torch.nn that use it."""

import json

import torch
from torch import nn
from torch.nn import functional

from ..common import TARGETS
from ..tester.codes import CodeCase, code_suite, export, q8, q16
from ..tester.native import invoke
from ..tester.suite import Case, op_suite

QUERIES, KEYS = 6, 7


def causal(rows=QUERIES, columns=KEYS):
    """-inf above the diagonal."""
    return torch.full((rows, columns), -torch.inf).triu(1)


def hiding_a_row():
    """The third query sees nothing: its result is 0."""
    mask = causal()
    mask[2] = -torch.inf
    return mask


MASKS = {
    "none": lambda: None,
    "float": lambda: torch.randn(QUERIES, KEYS),
    "infinite": causal,
    "very_negative": lambda: causal().clamp(min=torch.finfo(torch.float32).min),
    "hidden_row": hiding_a_row,
    "bool": lambda: causal() == 0,
    "bool_hidden_row": lambda: hiding_a_row() == 0,
    "heads": lambda: torch.randn(2, 1, KEYS),
    "batches": lambda: torch.randn(2, 1, QUERIES, KEYS),
}


class Attention(nn.Module):
    """Attention with a constant mask."""

    def __init__(self, mask="none", **options):
        super().__init__()
        self.mask, self.options = nn.Buffer(MASKS[mask]()) if mask != "none" else None, options

    def forward(self, q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, self.mask, **self.options)


class AttentionMask(nn.Module):
    """Attention whose mask is an input."""

    def forward(self, q, k, v, mask):
        return functional.scaled_dot_product_attention(q, k, v, mask)


class AttentionBoolMask(nn.Module):
    def forward(self, q, k, v, mask):
        return functional.scaled_dot_product_attention(q, k, v, mask > 0)


class SelfAttention(nn.Module):
    """nn.MultiheadAttention of a sequence with itself; a linear layer behind it."""

    def __init__(self, mask=None, **options):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.mask = None if mask is None else nn.Buffer(mask)
        self.last, self.options = nn.Linear(16, 8), options

    def forward(self, x):
        y, _ = self.attention(x, x, x, attn_mask=self.mask, **self.options)
        return self.last(y)


def shapes(batch=(2, 2), queries=QUERIES, keys=KEYS, depth=8, width=8):
    return (*batch, queries, depth), (*batch, keys, depth), (*batch, keys, width)


FLOAT = {"kinds": ("MI",)}
op_suite(
    "attention",
    Attention,
    cases={
        "": Case(shapes()),
        **{mask: Case(shapes(), (mask,), **FLOAT) for mask in MASKS if mask != "none"},
        "is_causal": Case(shapes(), options={"is_causal": True}, **FLOAT),
        "scale": Case(shapes(), options={"scale": 0.2}, **FLOAT),
        "width": Case(shapes(width=5), **FLOAT),
        "rank2": Case(shapes(batch=()), **FLOAT),
        "rank3": Case(shapes(batch=(3,)), **FLOAT),
        "grouped": Case(
            ((2, 6, QUERIES, 8), (2, 2, KEYS, 8), (2, 2, KEYS, 8)),
            options={"enable_gqa": True},
            **FLOAT,
        ),
    },
)
MASKED = (*shapes(), (QUERIES, KEYS))
op_suite("attention_mask", AttentionMask, cases={"": Case(MASKED, **FLOAT)})
op_suite("attention_bool_mask", AttentionBoolMask, cases={"": Case(MASKED, **FLOAT)})
op_suite(
    "multihead",
    SelfAttention,
    cases={
        "": Case(((1, 6, 16),), options={"need_weights": False}, quantizers=("arm", "xnnpack"), steps=6),
        "weights": Case(((1, 6, 16),), **FLOAT),
        "causal": Case(((1, 6, 16),), (causal(6, 6),), {"need_weights": False}, **FLOAT),
    },
)

ALL = ("BI", "u55", "u65", "u85")
Q, K, V, O = q8(0.03, 5), q8(0.04, -20), q8(0.05, 10), q8(0.03, 3)
WQ, WK, WV, WO = q16(2e-4), q16(2e-4), q16(3e-4), q16(2e-4)
EIGHT, SIXTEEN = (Q, K, V), (WQ, WK, WV)
CODES = {
    "": CodeCase(EIGHT, O, shapes(), kinds=ALL),
    **{mask: CodeCase(EIGHT, O, shapes(), (mask,)) for mask in MASKS if mask != "none"},
    "deep": CodeCase(EIGHT, O, shapes((1, 1), 4, 5, 64, 16)),
    "long": CodeCase(EIGHT, q8(0.02, 3), shapes((1, 2), 9, 200, 16, 16)),
    "peaky": CodeCase((q8(0.2), q8(0.2), V), q8(0.06, 10), shapes((1, 1), 8, 150, 16, 8)),
    "extreme": CodeCase((q8(30.0), q8(30.0), V), q8(0.06, 10), shapes((1, 1), 8, 20, 16, 8)),
    "flat": CodeCase((q8(1e-5), q8(1e-5), V), q8(0.02, 10), shapes(), ("infinite",)),
    "int16": CodeCase(SIXTEEN, WO, shapes(), kinds=ALL, steps=2),
    "int16_infinite": CodeCase(SIXTEEN, WO, shapes(), ("hidden_row",), steps=2),
    # 200 terms of 15 bits each, times codes from all of int16.
    "int16_long": CodeCase(SIXTEEN, WO, shapes((1, 2), 9, 200, 16, 16), steps=5),
}


code_suite("attention", Attention, CODES)
code_suite(
    "attention_causal",
    lambda: Attention(is_causal=True, scale=0.2),
    {"": CodeCase(EIGHT, O, shapes())},
)
code_suite(
    "attention_grouped",
    lambda: Attention("batches", enable_gqa=True),
    {"": CodeCase(EIGHT, O, ((2, 6, QUERIES, 8), (2, 2, KEYS, 8), (2, 2, KEYS, 8)))},
)
code_suite(
    "attention_mask",
    AttentionMask,
    {"": CodeCase((Q, K, V, q8(0.05, 100)), O, MASKED)},
)
code_suite(
    "attention_bool_mask",
    AttentionBoolMask,
    {"": CodeCase((Q, K, V, q8(0.05, 0)), O, MASKED, kinds=("BI", "u85"))},
)


def test_bool_mask_stays_on_the_cpu_where_there_are_no_bools_u55(tmp_path):
    program = export(CodeCase((Q, K, V, q8(0.05, 0)), O, MASKED), AttentionBoolMask, tmp_path / "program.pt2")
    report = invoke("explain", program.path, "--target", TARGETS["u55"], "--json").stdout
    reasons = {node["op"]: node["reason"] for node in json.loads(report)["nodes"] if node.get("reason")}
    assert reasons["aten.scaled_dot_product_attention.default"]["code"] == "R0002"
