"""`rushlight.distributions`: random variables with densities, moments, draws that carry gradients, and divergences.

A file is loaded when one of its names is first used. Each family's import path in PyTorch, such as
`distributions.normal`, is a module of its own here as well.

>>> from rushlight.distributions import Gamma, kl_divergence
>>> p, q = Gamma(rushlight.tensor(2.0), rushlight.tensor(1.0)), Gamma(rushlight.tensor(3.0), rushlight.tensor(1.0))
>>> kl_divergence(p, q)
tensor(0.2704)
"""

from __future__ import annotations

import importlib
import sys
import types

_FILES = {
    "distribution": "Distribution ExponentialFamily",
    "transformed_distribution": "Independent TransformedDistribution",
    "continuous": "Cauchy GeneralizedPareto Laplace Normal StudentT Uniform VonMises",
    "positive": "Beta Chi2 Dirichlet Exponential FisherSnedecor Gamma",
    "transformed": "Gumbel HalfCauchy HalfNormal InverseGamma Kumaraswamy LogNormal LogisticNormal Pareto Weibull",
    "counts": "Bernoulli Binomial ContinuousBernoulli Geometric NegativeBinomial Poisson",
    "categories": "Categorical Multinomial OneHotCategorical OneHotCategoricalStraightThrough",
    "relaxed": "RelaxedBernoulli RelaxedOneHotCategorical",
    "multivariate": "LowRankMultivariateNormal MultivariateNormal",
    "matrices": "LKJCholesky Wishart",
    "mixture": "MixtureSameFamily",
    "kl": "kl_divergence register_kl",
    "constraint_registry": "biject_to transform_to",
    "transforms": """AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform
        CumulativeDistributionTransform ExpTransform IndependentTransform LowerCholeskyTransform
        PositiveDefiniteTransform PowerTransform ReshapeTransform SigmoidTransform SoftmaxTransform SoftplusTransform
        StackTransform StickBreakingTransform TanhTransform Transform identity_transform""",
}
_HOMES = {name: file for file, names in _FILES.items() for name in names.split()}
__all__ = sorted(_HOMES)

# PyTorch's modules that are no files here, and what is in each
_MODULES = {
    "bernoulli": "Bernoulli",
    "beta": "Beta",
    "binomial": "Binomial",
    "categorical": "Categorical",
    "cauchy": "Cauchy",
    "chi2": "Chi2",
    "continuous_bernoulli": "ContinuousBernoulli",
    "dirichlet": "Dirichlet",
    "exp_family": "ExponentialFamily",
    "exponential": "Exponential",
    "fishersnedecor": "FisherSnedecor",
    "gamma": "Gamma",
    "generalized_pareto": "GeneralizedPareto",
    "geometric": "Geometric",
    "gumbel": "Gumbel",
    "half_cauchy": "HalfCauchy",
    "half_normal": "HalfNormal",
    "independent": "Independent",
    "inverse_gamma": "InverseGamma",
    "kumaraswamy": "Kumaraswamy",
    "laplace": "Laplace",
    "lkj_cholesky": "LKJCholesky",
    "log_normal": "LogNormal",
    "logistic_normal": "LogisticNormal",
    "lowrank_multivariate_normal": "LowRankMultivariateNormal",
    "mixture_same_family": "MixtureSameFamily",
    "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal",
    "negative_binomial": "NegativeBinomial",
    "normal": "Normal",
    "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
    "pareto": "Pareto",
    "poisson": "Poisson",
    "relaxed_bernoulli": "LogitRelaxedBernoulli RelaxedBernoulli",
    "relaxed_categorical": "ExpRelaxedCategorical RelaxedOneHotCategorical",
    "studentT": "StudentT",
    "uniform": "Uniform",
    "von_mises": "VonMises",
    "weibull": "Weibull",
    "wishart": "Wishart",
}
_RELAXED = ("ExpRelaxedCategorical", "LogitRelaxedBernoulli")


class _Alias(types.ModuleType):
    """A module by PyTorch's name, whose classes are found when asked for."""

    def __getattr__(self, name: str):
        if name not in _MODULES[self.__name__.rpartition(".")[2]].split():
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        file = "relaxed" if name in _RELAXED else _HOMES[name]
        found = self.__dict__[name] = getattr(importlib.import_module(f"{__name__}.{file}"), name)
        return found

    def __dir__(self):
        return sorted({*self.__dict__, *_MODULES[self.__name__.rpartition(".")[2]].split()})


for _name in _MODULES:
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _Alias(f"{__name__}.{_name}")


def __getattr__(name: str):
    if name in _HOMES:
        found = globals()[name] = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
        return found
    if name in ("constraints", "utils", *_FILES):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_HOMES, "constraints", "utils", *_FILES})
