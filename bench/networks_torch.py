# SPDX-License-Identifier: MIT
"""PyTorch versions of the networks in examples/networks, with the same weights. They are written from the networks'
descriptions, not from the graphs. networks.py compares and times them.

Each function accepts Layers and a scale, and returns the input and a function of it. Layers create weights in the order
in which the networks in examples/networks add them, since a tensor's numbers depend on its position in that order."""
import numpy as np
import torch
import torch.nn.functional as F

GOLDEN = 0x9E3779B97F4A7C15
EPSILON = 1e-5


def mixed(words):
    """Returns splitmix64's output for each state in an array of uint64."""
    with np.errstate(over="ignore"):
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class Layers:
    def __init__(self, dtype, device="cpu", seed=1):
        self.dtype, self.device, self.seed, self.stream = dtype, device, seed, 0

    # ---- Numbers

    def words(self, count):
        """Returns the numbers for the next input or weight tensor."""
        first = ((self.seed << 32) + self.stream + GOLDEN) & (2**64 - 1)
        self.stream += 1
        with np.errstate(over="ignore"):
            return mixed(mixed(np.array([first], np.uint64)) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN))

    def uniform(self, shape):
        words = self.words(int(np.prod(shape)))
        return (((words >> np.uint64(40)).astype(np.int64) - 2**23).astype(np.float32) * np.float32(2.0**-23)).reshape(shape)

    def put(self, array):
        tensor = torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
        return tensor.to(self.dtype) if tensor.is_floating_point() else tensor

    def weights(self, shape, reach, center=0.0):
        return self.put(np.float32(center) + np.float32(reach) * self.uniform(shape))

    @staticmethod
    def reach(gain, fan_in):
        return np.sqrt(np.float32(gain) / np.float32(fan_in))

    def picture(self, batch, channels, side, scale):
        image, channel, row, column = np.indices((batch, channels, side, side))
        x, y = column * 256 // side, row * 256 // side
        dx, dy = x - 104 - 24 * image % 96, y - 128
        stripe = (x + y * (channel + 1)) // 32 % 2
        level = np.where(dx * dx + dy * dy < 80 * 80, 224 - y // 2, 48 + x // 4 + 32 * stripe)
        noise = (self.words(level.size) >> np.uint64(60)).astype(np.int64).reshape(level.shape)
        return self.put((level + noise).astype(np.float32) * np.float32(scale))

    # ---- Layers, as functions that take a tensor

    def convolution(self, inputs, channels, size, stride=1, padding=0, groups=1, bias=True):
        of_group = inputs // groups
        filters = self.weights((channels, of_group, size, size), self.reach(6, of_group * size * size))
        offsets = self.weights((channels,), 0.125) if bias else None
        return lambda x: F.conv2d(x, filters, offsets, stride, padding, 1, groups)

    def transposed_convolution(self, inputs, channels, size, stride, padding):
        taps = max(1, size * size // (stride * stride))
        filters = self.weights((inputs, channels, size, size), self.reach(6, inputs * taps))
        more = stride - (size - 2 * padding)
        return lambda x: F.conv_transpose2d(x, filters, None, stride, padding, more)

    def batch_normalization(self, channels):
        mean, variance, scale, bias = (self.weights((channels,), reach, center)
                                       for reach, center in ((0.125, 0), (0.5, 1), (0.25, 1), (0.125, 0)))
        return lambda x: F.batch_norm(x, mean, variance, scale, bias, False, 0.0, EPSILON)

    def instance_normalization(self, channels):
        scale, bias = self.weights((channels,), 0.25, 1), self.weights((channels,), 0.125)
        return lambda x: F.instance_norm(x, None, None, scale, bias, True, 0.0, EPSILON)

    def layer_normalization(self, width):
        scale, bias = self.weights((width,), 0.25, 1), self.weights((width,), 0.125)
        return lambda x: F.layer_norm(x, (width,), scale, bias, EPSILON)

    def product(self, depth, columns, gain):
        matrix = self.weights((depth, columns), self.reach(gain, depth)).T.contiguous()
        bias = self.weights((columns,), 0.125)
        return lambda x: F.linear(x, matrix, bias)

    def lstm(self, inputs, units, both):
        directions = 2 if both else 1
        parts = [self.weights((directions, 4 * units, inputs), self.reach(3, inputs)),
                 self.weights((directions, 4 * units, units), self.reach(3, units)),
                 self.weights((directions, 2, 4 * units), 0.125)]
        result = torch.nn.LSTM(inputs, units, batch_first=True, bidirectional=both, dtype=self.dtype, device=self.device)
        # DirectML orders the gates input, output, forget, cell; PyTorch orders them input, forget, cell, output.
        order = torch.cat([torch.arange(units) + gate * units for gate in (0, 2, 3, 1)]).to(self.device)
        with torch.no_grad():
            for direction, suffix in zip(range(directions), ("_l0", "_l0_reverse")):
                for name, part in (("weight_ih", parts[0][direction]), ("weight_hh", parts[1][direction]),
                                   ("bias_ih", parts[2][direction, 0]), ("bias_hh", parts[2][direction, 1])):
                    getattr(result, name + suffix).copy_(part[order])
        return result


def chain(*functions):
    def run(x):
        for function in functions:
            x = function(x)
        return x
    return run


def softmax(x):
    return F.softmax(x, -1)


# ---- The networks ---------------------------------------------------------------------------------------------------

def mobilenet(to, batch, size, depth):
    def convolve(inputs, channels, window, clips, stride=1, groups=1):
        parts = [to.convolution(inputs, channels, window, stride, window // 2, groups, bias=False),
                 to.batch_normalization(channels)]
        return chain(*parts, F.relu6) if clips else chain(*parts)

    def block(inputs, widening, channels, stride):
        wide = inputs * widening
        parts = [convolve(inputs, wide, 1, True)] if widening > 1 else []
        parts += [convolve(wide, wide, 3, True, stride, wide), convolve(wide, channels, 1, False)]
        inner = chain(*parts)
        return (lambda x: x + inner(x)) if stride == 1 and inputs == channels else inner

    x, layers, inputs = to.picture(batch, 3, size, 1 / 64), [convolve(3, 32, 3, True, 2)], 32
    for widening, channels, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                               (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(blocks):
            layers.append(block(inputs, widening, channels, stride if i == 0 else 1))
            inputs = channels
    layers.append(convolve(320, 1280, 1, True))
    return x, chain(*layers, lambda x: x.mean((2, 3)), to.product(1280, 1000, 3), softmax)


def squeezenet(to, batch, size, depth):
    def fire(inputs, squeezed, expanded):
        narrow, points, windows = (to.convolution(inputs, squeezed, 1), to.convolution(squeezed, expanded, 1),
                                   to.convolution(squeezed, expanded, 3, padding=1))

        def run(x):
            x = F.relu(narrow(x))
            return torch.cat([F.relu(points(x)), F.relu(windows(x))], 1)
        return run

    def pool(x):
        return F.max_pool2d(x, 3, 2)

    x = to.picture(batch, 3, size, 1 / 64)
    return x, chain(to.convolution(3, 64, 3, 2), F.relu, pool, fire(64, 16, 64), fire(128, 16, 64), pool,
                    fire(128, 32, 128), fire(256, 32, 128), pool, fire(256, 48, 192), fire(384, 48, 192),
                    fire(384, 64, 256), fire(512, 64, 256), to.convolution(512, 1000, 1), F.relu,
                    lambda x: x.mean((2, 3)), softmax)


def style(to, batch, size, depth):
    def normalized(inputs, channels, window, stride):
        return chain(to.convolution(inputs, channels, window, stride, window // 2, bias=False),
                     to.instance_normalization(channels), F.relu)

    def residual(channels):
        inner = chain(to.convolution(channels, channels, 3, bias=False), to.instance_normalization(channels), F.relu,
                      to.convolution(channels, channels, 3, bias=False), to.instance_normalization(channels))
        return lambda x: inner(x) + x[:, :, 2:-2, 2:-2]

    x, border = to.picture(batch, 3, size, 1), 8 * depth
    layers = [lambda x: F.pad(x / 64 - 2, (border,) * 4, "reflect"), normalized(3, 32, 9, 1), normalized(32, 64, 3, 2),
              normalized(64, 128, 3, 2), *(residual(128) for _ in range(depth))]
    for inputs, channels in ((128, 64), (64, 32)):
        layers += [to.transposed_convolution(inputs, channels, 3, 2, 1), to.instance_normalization(channels), F.relu]
    return x, chain(*layers, to.convolution(32, 3, 9, padding=4, bias=False), to.instance_normalization(3), torch.tanh,
                    lambda x: 127.5 * x + 127.5)


def superresolution(to, batch, size, depth):
    image = to.picture(batch, 1, size, 1 / 256)
    inner = chain(to.convolution(1, 64, 5, padding=2), torch.tanh, to.convolution(64, 64, 3, padding=1), F.relu,
                  to.convolution(64, 32, 3, padding=1), F.relu, to.convolution(32, 9, 3, padding=1),
                  lambda x: F.pixel_shuffle(x, 3) / 32)
    return image, lambda x: (F.interpolate(x, scale_factor=3, mode="bilinear") + inner(x)).clamp(0, 1)


def lstm(to, batch, size, depth):
    signal = to.put(to.uniform((batch, size, 64)))
    both, last, classify = to.lstm(64, 128, True), to.lstm(256, 128, False), to.product(128, 10, 3)
    return signal, lambda x: softmax(classify(last(both(x)[0])[1][0][0]))


def transformer(to, batch, size, depth):
    width, heads = 256, 4
    symbols = to.put((to.words(batch * size) % np.uint64(1000)).astype(np.int64).reshape(batch, size))
    table, positions = to.weights((1000, width), 1), to.weights((size, width), 1)

    def layer():
        stacked, gathered, first = to.product(width, 3 * width, 3), to.product(width, width, 3), to.layer_normalization(width)
        inner = chain(to.product(width, 4 * width, 6), F.gelu, to.product(4 * width, width, 6))
        second = to.layer_normalization(width)

        def run(x):
            parts = stacked(x).view(*x.shape[:2], heads, 3, width // heads)
            q, k, v = (parts[:, :, :, i].transpose(1, 2) for i in range(3))
            seen = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
            x = first(x + gathered(seen))
            return second(x + inner(x))
        return run

    normalize = to.layer_normalization(width)
    layers = [layer() for _ in range(depth)]
    return symbols, chain(lambda x: normalize(table[x] + positions), *layers, lambda x: x.mean(1), to.product(width, 10, 3),
                          softmax)


NETWORKS = {one.__name__: one for one in (mobilenet, squeezenet, style, superresolution, lstm, transformer)}
