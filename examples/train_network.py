# SPDX-License-Identifier: MIT
"""Trains a small network with only DirectML's operators: a hidden layer with batch normalization, softmax, and Adam.

    python examples/train_network.py --steps 60

A training step (forward, gradients, new parameters) is one graph. The program prints the loss as it falls. The results
have the same bits on every CPU and GPU.
"""
import argparse

import numpy as np

import anydml

CLASSES, FEATURES, HIDDEN = 3, 2, 32
EPSILON = 1e-5
ADAM = {"learning_rate": 0.02, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-12}
RELU = anydml.Operator("ACTIVATION_RELU")


def spirals(points=300, seed=0):
    """Returns points on the three arms of a spiral, and a one-hot row for each point that identifies its arm."""
    random = np.random.default_rng(seed)
    arm = np.arange(points) % CLASSES
    radius = random.uniform(0.1, 1, points)
    angle = 4 * radius + arm * (2 * np.pi / CLASSES) + random.normal(0, 0.1, points)
    x = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return x.astype(np.float32), np.eye(CLASSES, dtype=np.float32)[arm]


def first_parameters(seed=1):
    """Returns the first layer's weights, the normalization's scale and bias, and the second layer's weights."""
    random = np.random.default_rng(seed)
    weights = random.normal(0, 1, (FEATURES, HIDDEN)), np.ones((1, HIDDEN)), np.zeros((1, HIDDEN))
    return [one.astype(np.float32) for one in (*weights, random.normal(0, HIDDEN ** -0.5, (HIDDEN, CLASSES)))]


def product(a, b, trans_a="NONE", trans_b="NONE"):
    return anydml.gemm(a, b, trans_a=trans_a, trans_b=trans_b, alpha=1, beta=0)


def step(x, wanted, count, *state):
    """state: the parameters, their first moments and their second moments. Returns the loss and the new state."""
    several = len(state) // 3
    parameters = weights, scale, bias, last = state[:several]
    share = 1 / x.shape[0]

    hidden = product(x, weights)
    active, mean, variance = anydml.batch_normalization_training(hidden, scale, bias, epsilon=EPSILON,
                                                                 fused_activation=RELU)
    scores = product(active, last)
    hits = anydml.multiply(anydml.log_softmax1(scores, axes=[1]), wanted)
    loss = anydml.linear(anydml.reduce(hits, function="SUM", axes=[0, 1]), alpha=-share, beta=0)

    of_scores = anydml.linear(anydml.subtract(anydml.softmax1(scores, axes=[1]), wanted), alpha=share, beta=0)
    of_last = product(active, of_scores, trans_a="TRANSPOSE")
    of_active = anydml.relu_grad(active, product(of_scores, last, trans_b="TRANSPOSE"))
    of_hidden, of_scale, of_bias = anydml.batch_normalization_training_grad(hidden, of_active, mean, variance, scale,
                                                                            epsilon=EPSILON)
    gradients = product(x, of_hidden, trans_a="TRANSPOSE"), of_scale, of_bias, of_last

    result = [anydml.adam_optimizer(parameter, first, second, gradient, count, **ADAM) for parameter, first, second, gradient
            in zip(parameters, state[several:2 * several], state[2 * several:], gradients)]
    return (loss, *(one[i] for i in range(3) for one in result))


def train(steps, run=None):
    """Returns the losses and the final parameters."""
    run = anydml.graph(step) if run is None else run
    x, wanted = spirals()
    parameters = first_parameters()
    state = [*parameters, *(np.zeros_like(one) for _ in range(2) for one in parameters)]
    losses = []
    for count in range(1, steps + 1):
        loss, *state = run(x, wanted, np.full((1, 1), count, np.uint32), *state)
        losses.append(float(loss[0, 0]))
    return losses, state[:len(parameters)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60, metavar="N", help="training steps (60)")
    parser.add_argument("--device", help="device that the graph runs on, such as cuda")
    options = parser.parse_args()
    losses, _ = train(options.steps, anydml.graph(step, device=options.device) if options.device else None)
    for count, loss in enumerate(losses, 1):
        if count % 10 == 0 or count == 1:
            print(f"step {count:3}: loss {loss:.6f}")


if __name__ == "__main__":
    main()
