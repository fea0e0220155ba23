# SPDX-License-Identifier: MIT
"""The arguments of an operator as the equivalents read them."""
from . import elementwise


class Given:
    """Attributes as attributes, and of the outputs that are there the sizes and types."""

    def __init__(self, attributes, present=(True,), sizes=(), types=(), device=None):
        self.attributes, self.present, self.sizes, self.types, self.device = attributes, present, sizes, types, device

    def __getattr__(self, name):
        return self.attributes[name]

    def get(self, name, default=None):
        value = self.attributes.get(name)
        return default if value is None else value

    def choice(self, name, *values):
        """An enumeration's value, which may be its number, or its name in any case with or without its prefix."""
        value = self.attributes[name]
        if not isinstance(value, str):
            return values[value]
        value = value.upper()
        return value if value in values else max((one for one in values if value.endswith("_" + one)), key=len)

    def outputs(self, *every):
        """Returns the outputs that the call asked for."""
        return [one for one, there in zip(every, self.present) if there]


def is_pointwise(name):
    """Whether an operator broadcasts its inputs by NumPy's rule and gives one element for each."""
    return name in elementwise.TABLE and name.startswith("ELEMENT_WISE_") and "QUANTIZE" not in name or (
        name in elementwise.OF_ONE)


def activation(given):
    """An Operator that was given, as a function."""
    return lambda x: elementwise.TABLE[given["operator"]](Given(given), x)


def activated(given, outputs):
    """With the FusedActivation, which is of the first output."""
    fused = given.get("FusedActivation")
    if fused is None:
        return outputs
    if isinstance(outputs, list):
        return [activation(fused)(outputs[0]), *outputs[1:]]
    return activation(fused)(outputs)
