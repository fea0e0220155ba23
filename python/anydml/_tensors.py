# SPDX-License-Identifier: MIT
"""Finds the calls that belong to PyTorch: calls with tensors that are differentiated, traced or transformed.

These calls are passed to anydml.torch, which is loaded by the first such call. Nothing here imports PyTorch: callers
use these checks only if PyTorch is already in `modules`. PyTorch's compiler also traces these functions, so they are
simple.
"""
from sys import modules

__all__ = ["FUNCTIONS", "call", "call_ufunc", "has_bfloats", "in_float32", "let_inline", "load", "modules", "takes",
           "traced"]

FUNCTIONS = {}  # anydml's functions by name, which PyTorch's compiler puts into its graphs by name
# A function that returns anydml.torch. The package sets it, because that module depends on modules that call this one.
# The function contains an import statement, which PyTorch's compiler can follow.
load = None


def traced():
    """Whether plain tensors also belong to PyTorch: its compiler is tracing, or forward-mode derivatives are active."""
    try:
        torch = modules["torch"]
        return torch.compiler.is_compiling() or torch.autograd.forward_ad._current_level >= 0
    except AttributeError:  # before PyTorch 2.3, or while it is being imported
        return False


def takes(arrays):
    """Whether a call with these inputs, and arrays for its results, belongs to PyTorch."""
    if _is_compiling():
        return True
    torch = modules["torch"]
    tensors = [one for one in arrays if isinstance(one, torch.Tensor)]
    if not tensors or (any(type(one) is not torch.Tensor for one in tensors)
                       and torch.overrides.has_torch_function(tensors)):  # a subclass of tensors handles the call first
        return False
    return traced() or torch._C._len_torch_dispatch_stack() > 0 or any(map(_is_special, tensors))


def has_bfloats(inputs):
    """Whether a tensor is bfloat16. Subclasses of tensors that handle calls themselves are excluded."""
    torch = modules["torch"]
    tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
    if not tensors or (any(type(one) is not torch.Tensor for one in tensors)
                       and torch.overrides.has_torch_function(tensors)):
        return False
    return any(one.dtype == torch.bfloat16 for one in tensors)


def in_float32(function, op, inputs, out, dtype):
    """Calls ``function(inputs, out)`` with bfloat16 converted exactly to float32, and rounds the results back.

    The results stay float32 if another operand has a different float type, following PyTorch's promotion rules, or if
    the caller specified their type.
    """
    if op.removeprefix("DML_OPERATOR_").startswith("ELEMENT_WISE_BIT_"):
        raise TypeError(f"{op}: a tensor is bfloat16, which is computed in float32, where its bits differ; "
                        "use x.view(torch.int16)")
    torch = modules["torch"]
    is_narrow = all(one.dtype == torch.bfloat16 for one in inputs if isinstance(one, torch.Tensor)
                    and one.is_floating_point())
    outs = out if isinstance(out, (tuple, list)) else (out,)
    wide = [_widened(one) for one in outs]
    result = function([_widened(one) for one in inputs], type(out)(wide) if outs is out else wide[0])
    for one, other in zip(outs, wide):
        if one is not other:
            one.copy_(other)
    several = isinstance(result, (tuple, list))
    results = list(result) if several else [result]
    kinds = dtype if isinstance(dtype, (tuple, list)) else [dtype] * len(results)
    given = outs if len(outs) == len(results) else [None] * len(results)
    for i, one in enumerate(results):
        if isinstance(given[i], torch.Tensor):
            results[i] = given[i]
        elif is_narrow and kinds[i] is None and isinstance(one, torch.Tensor) and one.dtype == torch.float32:
            results[i] = one.to(torch.bfloat16)
    return type(result)(results) if several else results[0]


def _widened(one):
    torch = modules["torch"]
    return one.float() if isinstance(one, torch.Tensor) and one.dtype == torch.bfloat16 else one


def _is_compiling():
    try:
        return modules["torch"].compiler.is_compiling()
    except AttributeError:
        return False


def _is_special(tensor):
    torch = modules["torch"]
    return (tensor.requires_grad or tensor.is_meta or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
            or type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__)


def call(op, inputs, out, dtype, shape, device, attributes):
    """Passes the call to PyTorch's operator."""
    return load().call(op, inputs, out, dtype, shape, device, attributes)


def let_inline(function):
    """Gives PyTorch's compiler a Python function to trace. The fast path of anydml's own function is compiled code."""
    name = function.__name__
    FUNCTIONS[name] = function

    def inlined(*arguments, **named):
        return load().call_by_name(name, arguments, named)

    # The compiler counts how often a code object was compiled, so each function has its own code object.
    inlined.__code__ = inlined.__code__.replace(co_name=name)
    function._torchdynamo_inline = inlined  # used if the function is called from a function that is being compiled
    # This allows passing the function itself to torch.compile.
    function._torchdynamo_orig_callable, function._torchdynamo_wrapper_id = inlined, id(function)


def call_ufunc(function, op, inputs, out, absent, true, casting, order, dtype, options):
    """Like `call`, for ufuncs, which compute in the requested type."""
    if out is not None:
        return load().with_out(lambda inputs, out: function(*inputs, out=out, **options), inputs, out)
    if (any(one is not None for one in absent) or any(one is not True for one in true) or casting != "same_kind"
            or order != "K"):
        expected = "x" if len(inputs) == 1 else "a and b"
        raise TypeError("tensors that require a gradient or are traced accept no further arguments: expected "
                        f"{expected}, and optionally dtype")
    return load().call(op, inputs, None, dtype, None, None, {}, converts=True)
