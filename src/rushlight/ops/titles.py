"""What nodes of the graph are called where PyTorch's name for an op is not our own."""

from __future__ import annotations

from ..core.engine import Layout, missing

TITLES = {
    "attention": "ScaledDotProductFlashAttentionForCpu",
    "attention_scores": "ScaledDotProductFlashAttentionForCpu",
    "batch_norm_eval": "NativeBatchNorm",
    "batch_norm_train": "NativeBatchNorm",
    "bce_of": "BinaryCrossEntropy",
    "bce_with_logits_of": "BinaryCrossEntropyWithLogits",
    "bilinear_form": "Trilinear",
    "constant_pad": "ConstantPadNd",
    "conv1d": "Convolution",
    "conv2d": "Convolution",
    "conv3d": "Convolution",
    "conv_transpose1d": "Convolution",
    "conv_transpose2d": "Convolution",
    "conv_transpose3d": "Convolution",
    "converted": "ToCopy",
    "copied": "Clone",
    "copy": "Copy",
    "cross_entropy_classes": "NllLoss",
    "crossed": "LinalgCross",
    "cummax_with_places": "Cummax",
    "cummin_with_places": "Cummin",
    "distances": "Cdist",
    "dotted": "View",
    "embedded": "Embedding",
    "flatten": "View",
    "fill_masked": "MaskedFill",
    "group_norm_of": "NativeGroupNorm",
    "imaginary_part": "Select",
    "kept": "Mul",
    "kept_affine": "Add",
    "kth_with_place": "Kthvalue",
    "l1_of": "Mean",
    "largest_with_places": "Topk",
    "layer_norm_of": "NativeLayerNorm",
    "linear": "Addmm",
    "log1p": "Log1P",
    "matmul": "Mm",
    "kl_div_of": "KlDiv",
    "mantissa_and_exponent": "Frexp",
    "max_along": "Max",
    "min_along": "Min",
    "max_all": "Max",
    "min_all": "Min",
    "movedim": "Permute",
    "mse_of": "MseLoss",
    "nll_of": "NllLoss",
    "norm_of": "LinalgVectorNorm",
    "of_parts": "Complex",
    "paired": "ViewAsComplex",
    "put_at": "IndexPut",
    "real_part": "Select",
    "reshape": "View",
    "pair_distances": "Pdist",
    "scatter_set": "Scatter",
    "sorted_with_places": "Sort",
    "std_of": "Std",
    "take_at": "Index",
    "true_divide": "Div",
    "var_of": "Var",
    "viewed": "View",
}


# forms that PyTorch numbers 1: with a dim, with a tensor as the last operand, of these ops always
_WITH_DIM = {"sum", "mean", "prod"}
_WITH_TENSOR = {"pow", "lerp", "masked_fill"}
_OF_NUMBER = {"sub": "rsub", "true_divide": "mul"}  # by what 2 - x and 2 / x are computed
_ALWAYS = {"max_all", "min_all", "rsub", "clamp"}


def title_of(name: str, key: tuple) -> str:
    """The name of an op's node: "AddBackward0" for "add". `key` is what was called, which decides between forms."""
    second = key[1] if len(key) > 1 and key[1] is not missing else None
    if key and key[0] in (int, float):
        name = _OF_NUMBER.get(name, name)
    variant = name in _ALWAYS
    variant |= name in _WITH_DIM and second is not None
    variant |= name in _WITH_TENSOR and isinstance(key[-1], Layout)
    if name == "linear" and (len(key) < 3 or key[2] is None or key[2] is missing):
        name = "matmul"
    title = TITLES.get(name) or "".join(part.capitalize() for part in name.split("_"))
    for digit in "123":
        title = title.replace(digit + "d", digit + "D")
    return f"{title}Backward{int(variant)}"
