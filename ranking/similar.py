import numpy as np
import numpy.typing as npt

from ranking.components import Components, Positions

Matrix = npt.NDArray[np.floating]

# one block of products is 10 MB at the 10 000 rows a pass looks at
_ROWS = 256
# float32 products of unit vectors err by less; what is nearer to the edge is multiplied again in float64
_ROUNDING = 1e-5


def unit_rows(embeddings: Matrix) -> npt.NDArray[np.float64]:
    """Rows of length 1; a row of zeros stays, and is similar to nothing."""
    units = embeddings.astype(np.float64)
    lengths = np.linalg.norm(units, axis=1, keepdims=True)
    units /= np.where(lengths > 0, lengths, 1.0)
    return units


def similar_components(units: npt.NDArray[np.float64], cosine: float) -> Positions:
    """A component number per unit vector, the same for rows linked by a chain of pairs of at least that cosine."""
    components = Components(len(units))
    narrow = units.astype(np.float32)
    for start in range(0, len(narrow), _ROWS):
        products = narrow[start : start + _ROWS] @ narrow[start:].T
        near = products >= cosine - _ROUNDING
        # a thousand copies are a million pairs: what is linked already need not be listed again
        near &= components.first[start : start + _ROWS, None] != components.first[None, start:]
        pairs = np.stack(np.nonzero(near))
        edge = np.flatnonzero(products[pairs[0], pairs[1]] < cosine + _ROUNDING)
        pairs += start
        exact = np.einsum("ij,ij->i", units[pairs[0, edge]], units[pairs[1, edge]])
        components.link(np.delete(pairs, edge[exact < cosine], axis=1))
    return components.firsts()
