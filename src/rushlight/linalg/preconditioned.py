"""Some eigenvalues of a large symmetric matrix, by products with it alone.

Method: Knyazev, "Toward the Optimal Preconditioned Eigensolver: Locally Optimal Block Preconditioned Conjugate Gradient
Method", 2001; the basis is made orthonormal as in Stathopoulos and Wu, "A Block Orthogonalization Procedure with
Constant Synchronization Requirements", 2002.
"""

from __future__ import annotations

from ..core.engine import set_grad_mode
from ..ir.dtypes import finfo
from ..ops import FUNCTIONS
from .eigen import eigh
from .outputs import needs_gradient

__all__ = ["lobpcg"]
METHODS = ("basic", "ortho")


def lobpcg(
    A,
    k=None,
    B=None,
    X=None,
    n=None,
    iK=None,
    niter=None,
    tol=None,
    largest=None,
    method=None,
    tracker=None,
    ortho_iparams=None,
    ortho_fparams=None,
    ortho_bparams=None,
):
    """(E, X): the k largest (or smallest) eigenvalues of ``A x = e B x`` and their vectors, of size (*, m, k).

    A, B       (*, m, m), symmetric; B positive definite, the identity if None
    k          how many; 1, or the columns of X
    X          (*, m, n) to start from; random if None
    n          the size of the block that is iterated; k if None
    iK         a preconditioner: (*, m, m), near the inverse of A
    niter      most steps: 1000 if None, without end if negative
    tol        relative residual at which an eigenpair counts as found; the root of eps if None
    largest    the largest if true or None
    method     "ortho" or "basic": both keep the basis orthonormal here
    tracker    called at each step with the state of the iteration; stops it by `state.bvars["force_stop"] = True`
    ortho_...  accepted, and not used

    m must be at least 3 n: ValueError otherwise. Gradients (first order) are those of a symmetric A, with B None.

    >>> E, X = rushlight.lobpcg(rushlight.diag(rushlight.arange(9.0)))
    >>> E.round()
    tensor([8.])
    """
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if X is None else X.shape[-1]) if n is None else n
    if m < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of "
            f"requested eigenpairs (={n})"
        )
    if method not in (None, *METHODS):
        raise ValueError(f"lobpcg: expected method to be one of {', '.join(METHODS)}, got {method}")
    options = {
        "k": k,
        "n": n,
        "niter": 1000 if niter is None else niter,
        "tol": finfo(A.dtype.to_real()).eps ** 0.5 if tol is None else tol,
        "largest": largest is None or bool(largest),
        "tracker": tracker,
    }
    before = set_grad_mode(False)
    try:
        E, X = solved(A.detach(), B, X, iK, options)
    finally:
        set_grad_mode(before)
    return differentiable(A, B, E, X) if needs_gradient(A) or (B is not None and needs_gradient(B)) else (E, X)


def solved(A, B, X, iK, options: dict):
    """One matrix after another."""
    if A.ndim == 2:
        return Iteration(A, B, X, iK, **options).run()
    parts = [x if x is None else x.broadcast_to((*A.shape[:-2], *x.shape[-2:])).flatten(0, -3) for x in (B, X, iK)]
    found = [
        Iteration(a, *(None if x is None else x[i] for x in parts), **options).run()
        for i, a in enumerate(A.flatten(0, -3))
    ]
    return tuple(
        FUNCTIONS["stack"](list(part)).reshape((*A.shape[:-2], *part[0].shape)) for part in zip(*found, strict=True)
    )


class Iteration:
    """The state of one iteration: E, X (the block's eigenpairs), R (residuals), S (the basis), and dictionaries."""

    def __init__(self, A, B, X, iK, k: int, n: int, niter: int, tol: float, largest: bool, tracker):
        self.A, self.B, self.iK, self.tracker = A, B, iK, tracker
        self.iparams = {"m": A.shape[-1], "n": n, "k": k, "niter": niter}
        self.fparams, self.bparams = {"tol": tol}, {"largest": largest}
        self.ivars, self.bvars = {"istep": 0, "converged_count": 0}, {"force_stop": False}
        self.fvars, self.tvars = {}, {}
        start = FUNCTIONS["randn"](A.shape[-1], n, dtype=A.dtype) if X is None else X.detach()
        self.S, self.P, self.R = self.orthonormal(start), None, None
        self.fvars["A_norm"] = (self.A @ self.S).norm().item() / self.S.norm().item()
        self.fvars["B_norm"] = self.times_b(self.S).norm().item() / self.S.norm().item()
        self.project()

    def times_b(self, x):
        return x if self.B is None else self.B @ x

    def orthonormal(self, S):
        """Columns that span the same space, with S^H B S = I; fewer if some depend on others."""
        for _ in range(2):  # the second time repairs what rounding left
            products = S.mH @ self.times_b(S)
            scale = products.diagonal().real.clamp_min(finfo(S.dtype.to_real()).tiny).rsqrt()
            values, turn = eigh(products * scale[:, None] * scale)
            kept = values > finfo(S.dtype.to_real()).eps * values.amax() * S.shape[-1]
            values, turn = values[kept], turn[:, kept]
            S = S @ (scale[:, None].to(S.dtype) * turn * values.rsqrt())
        return S

    def project(self) -> None:
        """The best eigenpairs within the basis, and the directions that led to them."""
        n = self.iparams["n"]
        values, turn = eigh(self.S.mH @ (self.A @ self.S))
        if self.bparams["largest"]:
            values, turn = values.flip(-1), turn.flip(-1)
        self.E, turn = values[:n], turn[:, :n]
        X = self.S @ turn
        # without their share in the previous block
        before = getattr(self, "X", None)
        self.P = None if before is None else X - before @ (before.mH @ self.times_b(X))
        self.X = X

    def residuals(self) -> int:
        """How many of the pairs have converged."""
        k = self.iparams["k"]
        self.R = self.A @ self.X - self.times_b(self.X) * self.E
        size = self.fvars["A_norm"] + self.E[:k].abs() * self.fvars["B_norm"]
        self.tvars["rerr"] = self.R[:, :k].norm(dim=0) / (self.X[:, :k].norm(dim=0) * size)
        return int((self.tvars["rerr"] < self.fparams["tol"]).sum().item())

    def run(self):
        k, niter = self.iparams["k"], self.iparams["niter"]
        while True:
            self.ivars["converged_count"] = self.residuals()
            if self.tracker is not None:
                self.tracker(self)
            done = self.ivars["converged_count"] >= k or self.bvars["force_stop"]
            if done or 0 <= niter <= self.ivars["istep"]:
                return self.E[:k], self.X[:, :k]
            towards = self.R if self.iK is None else self.iK @ self.R
            parts = [self.X, towards] if self.P is None else [self.X, towards, self.P]
            self.S = self.orthonormal(FUNCTIONS["cat"](parts, -1))
            self.project()
            self.ivars["istep"] += 1


def differentiable(A, B, E, X):
    """The eigenpairs as functions of A, to first order: perturbation theory with all eigenpairs of A."""
    if B is not None:
        raise RuntimeError("lobpcg: gradients are supported for B=None only")
    fixed = A.detach()
    values, vectors = eigh(fixed)
    moved = (A + A.mH) / 2 - (fixed + fixed.mH) / 2
    moved = moved @ X
    gaps = E[..., None, :] - values[..., :, None]
    # each eigenvalue's own vector, the nearest, does not move along itself
    own = gaps.abs() == gaps.abs().amin(-2, keepdim=True)
    shares = (vectors.mH @ moved) * (~own / gaps.masked_fill(own, 1.0))
    return E + (X.conj() * moved).sum(-2).real, X + vectors @ shares
