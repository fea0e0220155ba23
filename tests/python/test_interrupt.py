# SPDX-License-Identifier: MIT
"""Signals interrupt long calls: handlers run during the call, and an exception from a handler ends the call."""
import signal
import threading

import numpy as np
import pytest

import anydml

CHANNELS, SIZE, TAPS = 48, 200, 25  # a few seconds of work, in many pieces
X = np.random.default_rng(1).standard_normal((1, CHANNELS, SIZE, SIZE)).astype(np.float32)
W = np.random.default_rng(2).standard_normal((CHANNELS, CHANNELS, TAPS, TAPS)).astype(np.float32)
UNTOUCHED = np.float32(-12345.5)


class Stopped(Exception):
    pass


@pytest.fixture
def alarm():
    """Calls the given function in the main thread after 0.2 seconds."""
    before = signal.getsignal(signal.SIGALRM)

    def start(action):
        signal.signal(signal.SIGALRM, lambda *_: action())
        signal.setitimer(signal.ITIMER_REAL, 0.2)
    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def keyboard():
    """Makes SIGINT raise KeyboardInterrupt, because a script's background processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def stop():
    raise Stopped


def convolve(x, w, out):
    return anydml.run("CONVOLUTION", x, w, None, out=out, Mode="CROSS_CORRELATION", Direction="FORWARD", Strides=[1, 1],
                      Dilations=[1, 1], StartPadding=[0, 0], EndPadding=[0, 0], OutputPadding=[0, 0], GroupCount=1)


def test_an_exception_of_a_handler_ends_a_convolution(alarm):
    side = SIZE - TAPS + 1
    out = np.full((1, CHANNELS, side, side), UNTOUCHED)
    alarm(stop)
    with pytest.raises(Stopped):
        convolve(X, W, out)
    assert (out == UNTOUCHED).any()  # otherwise the call finished first
    signal.setitimer(signal.ITIMER_REAL, 0)
    small = convolve(X[:, :, :30, :30], W, np.empty((1, CHANNELS, 6, 6), np.float32))
    again = convolve(X[:, :, :30, :30], W, np.empty((1, CHANNELS, 6, 6), np.float32))
    assert np.array_equal(small, again)


def test_ctrl_c_is_a_keyboard_interrupt():
    out = np.full((1, CHANNELS, SIZE - TAPS + 1, SIZE - TAPS + 1), UNTOUCHED)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        convolve(X, W, out)
    timer.join()
    assert (out == UNTOUCHED).any()


def test_a_graph_ends_between_its_steps(alarm):
    @anydml.graph
    def long(x):
        for _ in range(400):
            x = anydml.matmul(x, x)
        return x
    x = np.eye(800, dtype=np.float32)
    alarm(stop)
    with pytest.raises(Stopped):
        for _ in range(100):
            long(x)
    signal.setitimer(signal.ITIMER_REAL, 0)

    @anydml.graph
    def short(y):
        return anydml.matmul(y, y)
    assert np.array_equal(short(x), x)


def test_a_handler_may_call_the_module_and_the_call_goes_on(alarm):
    seen = []

    def work():  # more operators than a thread keeps compiled
        for size in range(1, 20):
            seen.append(float(anydml.add(np.ones(size, np.float32), np.float32(2)).sum()))
            convolve(X[:, :, :40, :40], W[:, :, :size, :size], np.empty((1, CHANNELS, 41 - size, 41 - size), np.float32))
    x, w = X[:, :, :100, :100], W[:12]
    expected = convolve(x, w, np.empty((1, 12, 76, 76), np.float32))
    for _ in range(3):
        alarm(work)
        assert np.array_equal(convolve(x, w, np.empty((1, 12, 76, 76), np.float32)), expected)
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert all(one == 3.0 * (1 + i % 19) for i, one in enumerate(seen))


def test_other_threads_are_not_interrupted():
    x, w = X[:, :, :100, :100], W[:12]
    expected = convolve(x, w, np.empty((1, 12, 76, 76), np.float32))
    found = []
    thread = threading.Thread(target=lambda: found.append(convolve(x, w, np.empty((1, 12, 76, 76), np.float32))))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        thread.join()
    thread.join()
    assert np.array_equal(found[0], expected)
