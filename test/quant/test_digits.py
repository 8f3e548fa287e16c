# SPDX-License-Identifier: Apache-2.0
"""A network that has learnt something: scikit-learn's digits, 8 x 8 pixels, 10 classes."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

from .calibration import Quantised

CALIBRATION = 100
EPOCHS = 12


def digits():
    """Images in [0, 1] and labels: (training, held-out) halves in a fixed random order."""
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    images = torch.from_numpy(data.images[order, None].astype(np.float32) / 16)
    labels = torch.from_numpy(data.target[order])
    half = len(order) // 2
    return (images[:half], labels[:half]), (images[half:], labels[half:])


def trained(images, labels):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        nn.AvgPool2d(2), nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(64):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimiser.step()
    return model.eval()


@pytest.mark.INT
@pytest.mark.parametrize("observer", ("minmax", "mse"))
def test_accuracy_on_held_out_digits(tmp_path, observer):
    (images, labels), (unseen, truth) = digits()
    model = trained(images, labels)
    with torch.no_grad():
        expected = (model(unseen).argmax(1) == truth).double().mean().item()
    assert expected > 0.95, "the network has not learnt"
    path = tmp_path / "digits.pt2"
    torch.export.save(torch.export.export(model, (images[:1],)), path)
    samples = images[:CALIBRATION, None].numpy()
    made = Quantised(path, tmp_path / "made", "--observer", observer, input=samples)
    (scores,) = made.run(input=unseen[:, None].numpy())
    accuracy = (scores[:, 0].argmax(1) == truth.numpy()).mean()
    assert accuracy >= expected - 0.01, f"{accuracy:.4f}, in float {expected:.4f}"
