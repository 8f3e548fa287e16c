# SPDX-License-Identifier: Apache-2.0
"""Random graphs of 3 to 12 operators, exported by torch.export."""

import logging
import warnings

import torch

from . import algebra, arranging, blends, elements, fills, layers, moves, places, reductions, spellings, volumes
from .drawing import Drawing

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

# How often each template is drawn.
TEMPLATES = {
    layers.convolution: 9, layers.transposed_convolution: 3, layers.pooling: 5, layers.linear: 5, layers.product: 5,
    layers.normalisation: 4, layers.prelu: 1, layers.attention: 2, layers.recurrence: 3,
    elements.activation: 4, elements.curve: 9, elements.pair: 9, elements.scalar: 4, elements.comparison: 1,
    elements.logic: 2, elements.where: 3, elements.mask: 1, elements.glu: 1,
    reductions.reduction: 5, reductions.softmax: 2, reductions.spread: 2, reductions.extreme: 2, reductions.place: 2,
    reductions.norm: 2, reductions.cumulative: 2, reductions.truth: 1,
    blends.blend: 2, blends.limit: 3, blends.choice: 2, blends.einsum: 2, blends.distance: 2, blends.grid: 1,
    blends.spreading: 1, blends.likewise: 1,
    fills.fill: 1, fills.filled: 1, fills.counted: 1, fills.corner: 1, fills.no_op: 1,
    moves.view: 4, moves.ones: 2, moves.permutation: 4, moves.expansion: 3, moves.rotation: 2, moves.part: 3,
    moves.parts: 2, moves.joining: 4, moves.padding: 3, moves.shuffle: 2, moves.lookup: 2, moves.resize: 3,
    arranging.stacking: 2, arranging.cutting: 2, arranging.turning: 2, arranging.diagonal: 2, arranging.windows: 1,
    arranging.framing: 2, arranging.plain: 1,
    places.chosen: 2, places.along: 1, places.embedding: 1, places.scattering: 2, places.rows: 2, places.slices: 2,
    volumes.convolution: 3, volumes.pooling: 2, volumes.adaptive: 2,
    algebra.vectors: 2, algebra.matrices: 2, algebra.cross: 1, algebra.order: 1, algebra.neighbours: 1,
    algebra.loss: 1, algebra.question: 1,
    spellings.normalisation: 2, spellings.convolution: 1, spellings.pooling: 1, spellings.scalar: 2,
    spellings.prelu: 1, spellings.nearest: 1,
}  # fmt: skip


def draw(seed):
    """The Drawing of a seed."""
    d = Drawing(seed)
    wanted = d.whole(3, 12)
    while len(d.steps) < wanted:
        template = d.random.choices(list(TEMPLATES), list(TEMPLATES.values()))[0]
        try:
            step = template(d)
        except ValueError:  # no axis to choose: the operand is a scalar
            continue
        if step is None:
            continue
        step.name = f"{template.__module__.rpartition('.')[2]}.{template.__name__}"
        fused = step.layer and d.chance(0.4)
        if d.take(step, activation=fused) and fused:
            activation = elements.activation(d, step.results[0][0])
            activation.name = f"activation of {step.name}"
            if not d.take(activation):
                d.hidden.discard(step.results[0][0])
    d.show_some()
    return d


def export(program, examples, path):
    """Names of the program's operators."""
    with torch.no_grad():
        exported = torch.export.export(program, examples, strict=False)
    torch.export.save(exported, path)
    return sorted({str(node.target) for node in exported.graph.nodes if node.op == "call_function"})


def reduce(drawing, fails):
    """The fewest steps that still fail, found by leaving out one after the other. `fails`: of a list of steps."""
    steps = list(drawing.steps)
    for step in reversed(drawing.steps):
        fewer = [other for other in steps if other is not step]
        hidden = {index for index, _ in step.results} & drawing.hidden
        if fewer and not any(hidden & set(other.values()) for other in fewer) and fails(fewer):
            steps = fewer
    return steps
