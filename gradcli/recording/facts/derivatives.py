"""Recording: the facts of `gradcli grad --order` and `--mode`: matrices of derivatives by name."""

from __future__ import annotations

from ...named import NamedTuple
from .basic import Nested, Number


class MatrixFact(NamedTuple):
    """A Jacobian, or the Hessian of one element: `of` says which. Rows and columns are elements of
    tensors, by name. `texts` are the numbers as PyTorch prints them, of the rows and columns whose
    places are listed: of a large matrix these are its ends."""

    of: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[Number, ...], ...]
    texts: tuple[tuple[str, ...], ...] = ()
    row_places: tuple[int, ...] = ()
    column_places: tuple[int, ...] = ()
    eigenvalues: tuple[float, float] | None = None  # of a Hessian: the least and the greatest
    unequal: tuple[str, str, float, float] | None = None  # where a Hessian is not symmetric


class BlockFact(NamedTuple):
    """The derivatives of the result by one tensor, or by two: the shape of the result, then those
    of the tensors, as torch.autograd.functional gives them."""

    wrt: tuple[str, ...]
    shape: tuple[int, ...]
    value: Nested


class AgreementFact(NamedTuple):
    """Forward mode compared with reverse mode: the largest difference, and where it is: the
    result's element and the elements that it is differentiated by."""

    equal: bool
    difference: float
    of: str = ""
    wrt: tuple[str, ...] = ()
    forward: Number = 0.0
    reverse: Number = 0.0


class DerivativesFact(NamedTuple):
    """Everything of one result: of which order, by which mode ("both": the numbers of reverse)."""

    order: int
    mode: str
    jacobian: MatrixFact | None = None
    hessians: tuple[MatrixFact, ...] = ()
    blocks: tuple[BlockFact, ...] = ()
    second: tuple[BlockFact, ...] = ()
    agreement: AgreementFact | None = None
    notes: tuple[str, ...] = ()
