"""What nodes of the graph are called where PyTorch's name for an op is not our own."""

from __future__ import annotations

from ..core.engine import Layout, missing

TITLES = {
    "antialiased": "UpsampleAa",
    "attention": "ScaledDotProductFlashAttentionForCpu",
    "attention_scores": "ScaledDotProductFlashAttentionForCpu",
    "batch_norm_eval": "NativeBatchNorm",
    "batch_norm_train": "NativeBatchNorm",
    "bce_of": "BinaryCrossEntropy",
    "bce_with_logits_of": "BinaryCrossEntropyWithLogits",
    "bilinear_form": "Trilinear",
    "both_extremes": "Aminmax",
    "bernoulli_outcome": "Bernoulli",
    "clamped_through": "Clamp",
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
    "cosine_embedding_of": "CosineEmbeddingLoss",
    "covariance": "Cov",
    "cross_entropy_classes": "NllLoss",
    "cross_entropy_probabilities": "CrossEntropyLoss",
    "crossed": "LinalgCross",
    "ctc_end": "CtcLoss",
    "ctc_start": "CtcLoss",
    "ctc_step": "CtcLoss",
    "cummax_with_places": "Cummax",
    "cummin_with_places": "Cummin",
    "diag": "DiagEmbed",
    "distance_of": "PairwiseDistance",
    "distances": "Cdist",
    "dotted": "View",
    "edge_pad": "ReplicationPad",
    "einstein_sum": "Bmm",
    "embedded": "Embedding",
    "even_bags": "EmbeddingBag",
    "fill": "Fill",
    "fill_both": "MaskedFill",
    "fill_masked": "MaskedFill",
    "fill_slices": "IndexFill",
    "flatten": "View",
    "fold_of": "Col2Im",
    "fourier": "Fft",
    "fractional": "FractionalMaxPool",
    "gather_along": "Gather",
    "gaussian_nll_of": "GaussianNllLoss",
    "group_norm_of": "NativeGroupNorm",
    "hinge_embedding_of": "HingeEmbeddingLoss",
    "huber_of": "HuberLoss",
    "imaginary_part": "Select",
    "kept": "Mul",
    "kept_affine": "Add",
    "kl_div_of": "KlDiv",
    "kth_with_place": "Kthvalue",
    "l1_of": "Mean",
    "largest_with_places": "Topk",
    "layer_norm_of": "NativeLayerNorm",
    "linalg_cholesky": "LinalgCholeskyEx",
    "linalg_inv": "LinalgInvEx",
    "linalg_solve": "LinalgSolveEx",
    "linear": "Addmm",
    "log1p": "Log1P",
    "logsigmoid": "LogSigmoid",
    "mantissa_and_exponent": "Frexp",
    "margin_ranking_of": "MarginRankingLoss",
    "matmul": "Mm",
    "max_all": "Max",
    "max_along": "Max",
    "median_all": "Median",
    "median_along": "Median",
    "min_all": "Min",
    "min_along": "Min",
    "mode_along": "Mode",
    "movedim": "Permute",
    "mse_of": "MseLoss",
    "multi_margin_of": "MultiMarginLoss",
    "multilabel_margin_of": "MultilabelMarginLoss",
    "multilabel_soft_margin_of": "MultilabelSoftMarginLoss",
    "nanmedian_all": "Nanmedian",
    "nanmedian_along": "Nanmedian",
    "nll_of": "NllLoss",
    "norm_of": "LinalgVectorNorm",
    "normalised": "Normalize",
    "of_parts": "Complex",
    "outer": "Mul",
    "pair_distances": "Pdist",
    "paired": "ViewAsComplex",
    "poisson_nll_of": "PoissonNllLoss",
    "polygamma_of": "Polygamma",
    "prelu": "PreluKernel",
    "poisson_outcome": "Poisson",
    "put_at": "IndexPut",
    "put_places": "Put",
    "quantiles": "Quantile",
    "ragged_bags": "EmbeddingBag",
    "real_part": "Select",
    "reduce_segments": "SegmentReduce",
    "resampled": "Upsample",
    "reshape": "View",
    "rms_norm_of": "FusedRmsNorm",
    "sampled": "GridSampler",
    "scatter_set": "Scatter",
    "selu": "Elu",
    "smooth_l1_of": "SmoothL1Loss",
    "soft_margin_of": "SoftMarginLoss",
    "softmin_of": "Softmax",
    "sorted_with_places": "Sort",
    "square": "Pow",
    "std_mean_of": "StdMean",
    "std_of": "Std",
    "take_at": "Index",
    "true_divide": "Div",
    "unfold_of": "Im2Col",
    "unpooled": "MaxUnpool",
    "var_mean_of": "VarMean",
    "var_of": "Var",
    "viewed": "View",
    "windows": "Unfold",
}


# forms that PyTorch numbers 1: with a dim, with a tensor as the last operand, of these ops always
_WITH_DIM = {"sum", "mean", "prod"}
_WITH_TENSOR = {"pow", "lerp", "masked_fill"}
_OF_NUMBER = {"sub": "rsub", "true_divide": "mul"}  # by what 2 - x and 2 / x are computed
_PRODUCTS = {(1, 1): "dot", (2, 1): "mv", (3, 3): "bmm"}
_ALWAYS = {"max_all", "min_all", "rsub", "clamp"}
# whose derivatives PyTorch computes by ops of their own, which have derivatives: "TanhBackwardBackward0"
_DOUBLED = {
    "Tanh", "Sigmoid", "Relu", "Softmax", "LogSoftmax", "Gelu", "Elu", "LeakyRelu", "Softplus", "Softshrink",
    "Hardshrink", "Hardtanh", "Hardsigmoid", "Hardswish", "LogSigmoid", "Glu", "MseLoss", "SmoothL1Loss", "HuberLoss",
    "NllLoss", "BinaryCrossEntropy", "NativeLayerNorm", "NativeBatchNorm", "NativeGroupNorm", "FusedRmsNorm",
    "Convolution", "Cdist", "Slice", "Embedding",
}  # fmt: skip
_FUSED = {"Relu": "ThresholdBackward", "Softmax": "SoftmaxBackwardData", "LogSoftmax": "LogSoftmaxBackwardData"}


def title_of(name: str, key: tuple) -> str:
    """The name of an op's node: "AddBackward0" for "add". `key` is what was called, which decides between forms.

    The node of a derivative ("pow_backward") is named for the op that it belongs to, unless PyTorch has an own name.
    """
    if name.endswith("_backward"):
        while name.endswith("_backward"):
            name = name.removesuffix("_backward")
        title = _title(name)
        return f"{_FUSED.get(title, title + 'Backward') if title in _DOUBLED else title}Backward0"
    second = key[1] if len(key) > 1 and key[1] is not missing else None
    if key and key[0] in (int, float):
        name = _OF_NUMBER.get(name, name)
    if name == "linear" and (len(key) < 3 or key[2] is None or key[2] is missing):
        name = "matmul"
    if name == "matmul" and all(isinstance(entry, Layout) for entry in key[:2]):
        name = _PRODUCTS.get(tuple(entry.ndim for entry in key[:2]), name)
    variant = name in _ALWAYS
    variant |= name == "scatter_set" and not isinstance(key[3], Layout)
    variant |= name in _WITH_DIM and second is not None
    variant |= name in _WITH_TENSOR and isinstance(key[-1], Layout)
    return f"{_title(name)}Backward{2 if name == 'pow' and key[0] in (int, float, complex) else int(variant)}"


def _title(name: str) -> str:
    title = TITLES.get(name) or "".join(part.capitalize() for part in name.split("_"))
    for digit in "123":
        title = title.replace(digit + "d", digit + "D")
    return title
