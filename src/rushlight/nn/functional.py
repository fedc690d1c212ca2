"""`rushlight.nn.functional`: the functions of neural networks by their usual names.

Nothing is computed here: each name is looked up in the catalogue (`rushlight.ops`) on first use.
"""

from __future__ import annotations

NAMES = """
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc unfold fold
    linear bilinear embedding embedding_bag one_hot
    avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d lp_pool1d lp_pool2d lp_pool3d
    max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices
    max_unpool1d max_unpool2d max_unpool3d fractional_max_pool2d fractional_max_pool3d
    fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
    adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
    adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices
    threshold threshold_ relu relu_ relu6 hardtanh hardtanh_ hardswish hardsigmoid elu elu_ selu selu_ celu celu_
    leaky_relu leaky_relu_ prelu rrelu rrelu_ glu gelu logsigmoid hardshrink tanhshrink softsign softplus softmin
    softmax softshrink gumbel_softmax log_softmax tanh sigmoid silu mish
    batch_norm group_norm instance_norm layer_norm rms_norm local_response_norm normalize
    dropout alpha_dropout feature_alpha_dropout dropout1d dropout2d dropout3d
    pairwise_distance cosine_similarity pdist
    binary_cross_entropy binary_cross_entropy_with_logits poisson_nll_loss cosine_embedding_loss cross_entropy
    linear_cross_entropy ctc_loss gaussian_nll_loss hinge_embedding_loss kl_div l1_loss mse_loss margin_ranking_loss
    multilabel_margin_loss multilabel_soft_margin_loss multi_margin_loss nll_loss huber_loss smooth_l1_loss
    soft_margin_loss triplet_margin_loss triplet_margin_with_distance_loss
    pixel_shuffle pixel_unshuffle channel_shuffle pad interpolate upsample upsample_nearest upsample_bilinear
    grid_sample affine_grid scaled_dot_product_attention
""".split()  # noqa: SIM905
ELSEWHERE = {  # functions made of several ops, beside their modules
    "assert_int_or_pair": "common_types",
    "multi_head_attention_forward": "attention",
}


def __getattr__(name: str):
    from importlib import import_module

    if name == "__all__":  # for `import *`: what the catalogue has
        ops = import_module("..ops", __package__)
        return [*(n for n in NAMES if hasattr(ops, n)), *ELSEWHERE]
    if name in ELSEWHERE:
        found = getattr(import_module("." + ELSEWHERE[name], __package__), name)
        found = import_module("..core.engine", __package__).Composite(found, name)  # explains what it can't take
    elif name in NAMES:
        found = getattr(import_module("..ops", __package__), name)
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = found  # the next access does not come here
    return found


def __dir__() -> list[str]:
    return sorted([*NAMES, *ELSEWHERE])
