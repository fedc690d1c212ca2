"""Embeddings, bags and one-hot rows against PyTorch."""

from .parity import agree, numbers, table

F = "T.nn.functional"
FLAT, OFFSETS, GRID = "L([0, 1, 2, 2, 1, 1])", "L([0, 2, 2, 5])", "L([[0, 1], [2, 2], [1, 1]])"


@table(
    f"""
    {F}.embedding({GRID}, X)
    {F}.embedding({GRID}.int(), X)
    {F}.embedding(L([3]), X)
    {F}.embedding({GRID}, X.clone(), max_norm=3.0)
    {F}.embedding({GRID}, X.clone(), max_norm=3.0, norm_type=math.inf)
    {F}.embedding({GRID}, X.clone(), max_norm=3.0, norm_type=1)
    {F}.embedding({GRID}, X, padding_idx=3)
    {F}.one_hot(T.arange(5) % 3)
    {F}.one_hot(T.arange(6).reshape(2, 3) % 3, 5)
    {F}.one_hot(T.arange(5), 2)
    {F}.one_hot(T.arange(5) - 1)
    {F}.one_hot(X)
    {F}.one_hot(T.arange(0))
    {F}.one_hot(T.arange(0), 3)
    {F}.embedding_bag({FLAT}, X)
    {F}.embedding_bag({FLAT}, X, L([1, 2]))
    {F}.embedding_bag({FLAT}, X, L([0, 7]))
    {F}.embedding_bag({GRID}, X, L([0, 2]))
    {F}.embedding_bag({GRID}, X, mode='other')
    {F}.embedding_bag({GRID}, X, mode='mean', per_sample_weights=X[:, :2])
    {F}.embedding_bag({GRID}, X, mode='sum', per_sample_weights=X[:, :3])
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@table(
    "\n".join(
        f"{F}.embedding_bag({GRID}, X, mode='{mode}'{options})"
        f"\n{F}.embedding_bag({FLAT}, X, {OFFSETS}, mode='{mode}'{options})"
        for mode in ("sum", "mean", "max")
        for options in ("", ", padding_idx=1")
    )
    + f"""
    {F}.embedding_bag({FLAT}, X, L([0, 2, 2, 5, 6]), mode='sum', include_last_offset=True)
    {F}.embedding_bag({GRID}, X, mode='sum', per_sample_weights=X[:, :2], padding_idx=0)
    {F}.embedding_bag({FLAT}, X, {OFFSETS}, mode='sum', per_sample_weights=X.reshape(-1)[:6])
    {F}.embedding({GRID}, X)
    {F}.embedding({GRID}, X, padding_idx=-1)
    {F}.embedding({GRID}, X, padding_idx=1, scale_grad_by_freq=True)
    """
)
def test_values_and_gradients(expression):
    agree(expression, numbers)
    agree(f"gradients(lambda X, Y, S: {expression})", numbers)
