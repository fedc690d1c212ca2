"""Parameters for every family: arrays become float tensors, the rest stays."""

import numpy as np

rng = np.random.default_rng(0)


def some(*shape, low=0.3, high=2.5):
    return rng.uniform(low, high, shape)


def definite(n: int):
    root = rng.standard_normal((n, n))
    return root @ root.T + n * np.eye(n)


def array(*numbers):
    return np.array(numbers)


CASES = [
    ("Normal", {"loc": some(3, low=-1), "scale": some(3)}),
    ("Laplace", {"loc": some(3, low=-1), "scale": some(3)}),
    ("Cauchy", {"loc": some(3, low=-1), "scale": some(3)}),
    ("StudentT", {"df": array(0.8, 1.5, 4), "loc": some(3, low=-1), "scale": some(3)}),
    ("Uniform", {"low": some(3, low=-2, high=0), "high": some(3)}),
    ("VonMises", {"loc": some(3, low=-1), "concentration": some(3, high=5)}),
    ("Exponential", {"rate": some(3)}),
    ("Gamma", {"concentration": some(3), "rate": some(3)}),
    ("Chi2", {"df": some(3)}),
    ("Beta", {"concentration1": some(3), "concentration0": some(3)}),
    ("Dirichlet", {"concentration": some(2, 3)}),
    ("Dirichlet", {"concentration": some(2, 3, low=0.2, high=0.9)}),
    ("FisherSnedecor", {"df1": some(3, high=5), "df2": array(1.5, 3, 6)}),
    ("LogNormal", {"loc": some(3, low=-1), "scale": some(3, high=1)}),
    ("LogisticNormal", {"loc": some(2, 3, low=-1), "scale": some(2, 3, high=1)}),
    ("Gumbel", {"loc": some(3, low=-1), "scale": some(3)}),
    ("HalfNormal", {"scale": some(3)}),
    ("HalfCauchy", {"scale": some(3)}),
    ("Pareto", {"scale": some(3), "alpha": array(0.7, 1.5, 3)}),
    ("Weibull", {"scale": some(3), "concentration": some(3)}),
    ("Kumaraswamy", {"concentration1": some(3), "concentration0": some(3)}),
    ("InverseGamma", {"concentration": array(0.7, 1.5, 3), "rate": some(3)}),
    ("Bernoulli", {"probs": array(0, 0.3, 0.5)}),
    ("Bernoulli", {"logits": some(3, low=-2)}),
    ("Geometric", {"probs": array(1, 0.3, 0.5)}),
    ("Geometric", {"logits": some(3, low=-2)}),
    ("Binomial", {"total_count": 5, "probs": array(0.1, 0.3, 0.5)}),
    ("Binomial", {"total_count": array(5, 2, 0.0), "logits": some(3, low=-2)}),
    ("NegativeBinomial", {"total_count": array(5, 2, 0.5), "probs": array(0.1, 0.3, 0.5)}),
    ("NegativeBinomial", {"total_count": 3, "logits": some(3, low=-2)}),
    ("Poisson", {"rate": some(3)}),
    ("ContinuousBernoulli", {"probs": array(0.1, 0.4995, 0.9)}),
    ("ContinuousBernoulli", {"logits": some(3, low=-2)}),
    ("Categorical", {"probs": some(2, 3)}),
    ("Categorical", {"logits": some(2, 3, low=-2)}),
    ("OneHotCategorical", {"probs": some(2, 3)}),
    ("OneHotCategoricalStraightThrough", {"logits": some(2, 3)}),
    ("Multinomial", {"total_count": 4, "probs": some(2, 3)}),
    ("Multinomial", {"total_count": 4, "logits": some(2, 3)}),
    ("RelaxedBernoulli", {"temperature": np.array(0.7), "probs": array(0.1, 0.3, 0.5)}),
    ("RelaxedOneHotCategorical", {"temperature": np.array(0.7), "logits": some(2, 3)}),
    ("MultivariateNormal", {"loc": some(2, 3), "covariance_matrix": definite(3)}),
    ("MultivariateNormal", {"loc": some(3), "precision_matrix": np.stack([definite(3), definite(3)])}),
    ("MultivariateNormal", {"loc": some(2, 3), "scale_tril": np.linalg.cholesky(definite(3))}),
    ("LowRankMultivariateNormal", {"loc": some(2, 4), "cov_factor": some(4, 2), "cov_diag": some(4)}),
    ("Wishart", {"df": array(4, 5.5), "covariance_matrix": definite(3)}),
    ("LKJCholesky", {"dim": 3, "concentration": array(0.5, 2)}),
]
IDS = [f"{name}-{'-'.join(parameters)}" for name, parameters in CASES]
# PyTorch computes in float32 there: Bessel functions, factorials
TOLERANCE = {"VonMises": 1e-6, "Multinomial": 1e-7}
# where PyTorch has another answer, and why ours stands
DIFFERENT = {
    ("Kumaraswamy", "mode"): "NaN by a logarithm of a negative number",
    ("Multinomial", "expanded entropy"): "an expanded one lacks an attribute",
    ("Wishart", "draws"): "its test for singular draws is inverted, so that it draws again what is regular",
    ("Wishart", "gradient of draws"): "the same",
    ("LKJCholesky", "draws"): "rows below the second are drawn too long: their correlations are not LKJ's",
    ("Beta", "repr"): "ours shows the parameters",
}
