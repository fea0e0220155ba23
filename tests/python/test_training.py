# SPDX-License-Identifier: MIT
"""Compares a network that is trained with DirectML's operators with the same network in PyTorch."""
import sys
from pathlib import Path

import numpy as np
import pytest

import anydml

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import train_network  # noqa: E402

STEPS = 40
# Losses are about 1 and differed by at most 1e-6. A rounding error may grow from step to step, since Adam divides a
# small gradient by its own magnitude.
BOUND = 1e-5


def test_a_graph_trains_as_the_operators_one_by_one():
    losses, parameters = train_network.train(3)
    again, others = train_network.train(3, train_network.step)
    assert losses == again
    for one, other in zip(parameters, others):
        assert one.tobytes() == other.tobytes()


def test_losses_beside_pytorch():
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    losses, parameters = train_network.train(STEPS)
    x, wanted = (torch.tensor(one.astype(np.float64)) for one in train_network.spirals())
    theirs = [torch.tensor(one.astype(np.float64), requires_grad=True) for one in train_network.first_parameters()]
    weights, scale, bias, last = theirs
    options = train_network.ADAM
    optimizer = torch.optim.Adam(theirs, lr=options["learning_rate"], betas=(options["beta1"], options["beta2"]),
                                 eps=options["epsilon"])
    expected = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        hidden = functional.batch_norm(x @ weights, None, None, scale[0], bias[0], True, 0.1, train_network.EPSILON)
        loss = functional.cross_entropy(torch.relu(hidden) @ last, wanted)
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    np.testing.assert_allclose(losses, expected, rtol=0, atol=BOUND)
    assert losses[-1] < 0.6 * losses[0]
    for one, other in zip(parameters, theirs):
        np.testing.assert_allclose(one, other.detach().numpy(), rtol=0, atol=100 * BOUND)


def test_moments_may_be_updated_in_place():
    x, _ = train_network.spirals(8)
    parameters, first, second = x.copy(), np.zeros_like(x), np.zeros_like(x)
    gradient = np.ones_like(x)
    count = np.full((1, 1), 1, np.uint32)
    expected = anydml.adam_optimizer(parameters, first, second, gradient, count, **train_network.ADAM)
    results = anydml.adam_optimizer(parameters, first, second, gradient, count, **train_network.ADAM,
                                    out=(parameters, first, second))
    for one, other, own in zip(results, expected, (parameters, first, second)):
        assert one is own and one.tobytes() == other.tobytes()
