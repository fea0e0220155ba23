# SPDX-License-Identifier: MIT
"""The arguments of an operator, as its equivalent receives them."""
from . import elementwise


class Given:
    """An operator's attributes as Python attributes, and the sizes and types of its present outputs."""

    def __init__(self, attributes, present=(True,), sizes=(), types=(), device=None):
        self.attributes, self.present, self.sizes, self.types, self.device = attributes, present, sizes, types, device

    def __getattr__(self, name):
        return self.attributes[name]

    def get(self, name, default=None):
        value = self.attributes.get(name)
        return default if value is None else value

    def choice(self, name, *values):
        """Returns an enumeration value's name, given its number or its name in any case, with or without its prefix."""
        value = self.attributes[name]
        if not isinstance(value, str):
            return values[value]
        value = value.upper()
        return value if value in values else max((one for one in values if value.endswith("_" + one)), key=len)

    def outputs(self, *every):
        """Returns the outputs that the call asked for."""
        return [one for one, there in zip(every, self.present) if there]


def is_pointwise(name):
    """Whether an operator broadcasts its inputs as NumPy does and computes each result element independently."""
    return name in elementwise.TABLE and name.startswith("ELEMENT_WISE_") and "QUANTIZE" not in name or (
        name in elementwise.OF_ONE)


def activation(given):
    """Returns a function that applies an Operator that was passed as an attribute."""
    return lambda x: elementwise.TABLE[given["operator"]](Given(given), x)


def activated(given, outputs):
    """Applies the FusedActivation, if there is one, to the first output."""
    fused = given.get("FusedActivation")
    if fused is None:
        return outputs
    if isinstance(outputs, list):
        return [activation(fused)(outputs[0]), *outputs[1:]]
    return activation(fused)(outputs)
