"""Triangle meshes: read from OBJ text, scaled to unit size, and stored in a tree of boxes for the tracer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generation.engine.errors import BadMesh

MAX_FACES = 5000
LEAF = 4
CREASE = math.cos(math.radians(40.0))

Corner = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles in unit size, with a tree to search them.

    The mesh stands on z = -1 and its middle is on the z axis. All points are within distance 1 of that axis and below
    z = 1, and the mesh touches one of these limits.

    Parameters
    ----------
    triangles : (n, 9) float64
        Three corners per row, in the order of the tree.
    normals : (n, 9) float64
        Unit normals at the corners: smooth across edges under 40 degrees, sharp across other edges.
    bounds : (m, 6) float64
        The low and high corner of each tree node's box. Node 0 is the root.
    links : (m, 2) int64
        The two children of a node. In a leaf: the first triangle and minus the number of triangles.
    """

    triangles: np.ndarray
    normals: np.ndarray
    bounds: np.ndarray
    links: np.ndarray

    @property
    def reach(self) -> float:
        """The distance from the origin to the farthest corner."""
        return float(np.sqrt((self.triangles.reshape(-1, 3) ** 2).sum(axis=1)).max())


def parse_mesh(text: str, *, name: str = "mesh", up: str = "y") -> Mesh:
    """Return the mesh in an OBJ text, scaled to unit size.

    Parameters
    ----------
    text : str
        OBJ: only the lines `v x y z` and `f a b c ...` are read (polygons become fans of triangles, negative indices
        count from the end); all other lines are ignored.
    name : str
        Name of the text in error messages.
    up : str
        The axis of the file that points up: 'y', as most programs write OBJ, or 'z'.

    Raises
    ------
    BadMesh
        For broken or infinite numbers, indices out of range, no faces or more than 5,000, or only triangles without
        area. `where` is name:line.
    """
    points: list[tuple[float, float, float]] = []
    faces: list[Corner] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        where = f"{name}:{number}"
        if words[0] == "v":
            points.append(_vertex(words[1:], where=where))
        elif words[0] == "f":
            faces.extend(_face(words[1:], len(points), where=where))
            if len(faces) > MAX_FACES:
                raise BadMesh(f"Expected at most {MAX_FACES} triangles, got more. Simplify the mesh.", where=where)
    if not faces:
        raise BadMesh("Expected at least one face (a line `f 1 2 3`), got none.", where=name)
    return build_mesh(np.array(points), np.array(faces), name=name, up=up)


def build_mesh(points: np.ndarray, faces: np.ndarray, *, name: str = "mesh", up: str = "z") -> Mesh:
    """Return the mesh of points (n, 3) and triangles as indices (m, 3), scaled to unit size."""
    if up == "y":
        points = np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)
    points = _unit_size(points, faces, name=name)
    triangles = points[faces].reshape(-1, 9)
    sides, solid = _face_normals(triangles)
    if not solid.any():
        raise BadMesh("Expected triangles with an area, got only empty ones.", where=name)
    faces, triangles, sides = faces[solid], triangles[solid], sides[solid]
    normals = _corner_normals(faces, sides)
    order, bounds, links = _tree(triangles)
    return Mesh(triangles=triangles[order], normals=normals[order], bounds=bounds, links=links)


def _vertex(words: Sequence[str], *, where: str) -> tuple[float, float, float]:
    """Return the three numbers of a `v` line."""
    try:
        x, y, z = (float(word) for word in words[:3])
    except ValueError as error:
        raise BadMesh(f"Expected three numbers after v, got {' '.join(words)!r}.", where=where) from error
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise BadMesh(f"Expected finite numbers after v, got {' '.join(words)!r}.", where=where)
    if max(abs(x), abs(y), abs(z)) > 1e12:
        raise BadMesh(f"Expected numbers up to 1e12 after v, got {' '.join(words)!r}.", where=where)
    return x, y, z


def _face(words: Sequence[str], known: int, *, where: str) -> list[Corner]:
    """Return the triangles of an `f` line, as 0-based indices."""
    if len(words) < 3:
        raise BadMesh(f"Expected three or more corners after f, got {len(words)}.", where=where)
    corners = [_index(word, known, where=where) for word in words]
    return [(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)]


def _index(word: str, known: int, *, where: str) -> int:
    """Return the 0-based index of a corner such as `7`, `7/1/3` or `-2`."""
    try:
        number = int(word.split("/", 1)[0])
    except ValueError as error:
        raise BadMesh(f"Expected a corner such as 7 or 7/1/3, got {word!r}.", where=where) from error
    index = number - 1 if number > 0 else known + number
    if number == 0 or not 0 <= index < known:
        raise BadMesh(f"Expected an index from 1 to {known} (or -1 to -{known}), got {number}.", where=where)
    return index


def _unit_size(points: np.ndarray, faces: np.ndarray, *, name: str) -> np.ndarray:
    """Return the points moved and scaled so that the used ones exactly fit the unit cylinder and stand on its floor."""
    used = points[np.unique(faces)]
    low, high = used.min(axis=0), used.max(axis=0)
    middle = (low + high) / 2
    width = float(np.sqrt(((used[:, :2] - middle[:2]) ** 2).sum(axis=1)).max())
    size = max(width, float(high[2] - low[2]) / 2)
    if size < 1e-12:
        raise BadMesh("Expected a mesh with some extent, got all corners in one place.", where=name)
    moved = (points - middle) / size
    moved[:, 2] += (high[2] - low[2]) / 2 / size - 1.0
    return moved


def _face_normals(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    corners = triangles.reshape(-1, 3, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals, np.sqrt((normals**2).sum(axis=1)) > 1e-14


def _corner_normals(faces: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Return unit normals (n, 9): for each corner, the mean over adjacent faces that bend less than the crease."""
    unit = sides / np.sqrt((sides**2).sum(axis=1))[:, None]
    normals = np.empty((len(faces), 3, 3))
    order = np.argsort(faces, axis=None, kind="stable")
    ends = np.flatnonzero(np.diff(faces.ravel()[order])) + 1
    for places in np.split(order, ends):  # all positions of one corner in `faces`
        around = places // 3
        for part in np.array_split(np.arange(len(places)), 1 + len(places) // 500):
            smooth = unit[around[part]] @ unit[around].T > CREASE
            smooth[np.arange(len(part)), part] = True
            normals[around[part], places[part] % 3] = smooth @ sides[around]
    lengths = np.sqrt((normals**2).sum(axis=2))[:, :, None]
    flat = np.broadcast_to(unit[:, None, :], normals.shape)
    return np.where(lengths > 1e-14, normals / np.maximum(lengths, 1e-14), flat).reshape(-1, 9)


def _tree(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the order of the triangles, the nodes' boxes and their links. Boxes are split at the median."""
    corners = triangles.reshape(-1, 3, 3)
    low, high = corners.min(axis=1), corners.max(axis=1)
    order: list[int] = []
    bounds: list[np.ndarray] = [np.empty(6)]
    links: list[tuple[int, int]] = [(0, 0)]
    pending = [(0, np.arange(len(triangles)))]
    while pending:
        node, group = pending.pop()
        box = np.concatenate([low[group].min(axis=0), high[group].max(axis=0)])
        bounds[node] = box + np.array([-1e-9] * 3 + [1e-9] * 3)
        if len(group) <= LEAF:
            links[node] = (len(order), -len(group))
            order.extend(group.tolist())
            continue
        axis = int(np.argmax(box[3:] - box[:3]))
        middle = low[group, axis] + high[group, axis]
        group = group[np.argsort(middle, kind="stable")]
        links[node] = (len(bounds), len(bounds) + 1)
        for half in (group[: len(group) // 2], group[len(group) // 2 :]):
            pending.append((len(bounds), half))
            bounds.append(np.empty(6))
            links.append((0, 0))
    return np.array(order), np.array(bounds), np.array(links, dtype=np.int64)
