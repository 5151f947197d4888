"""The kinds of solids, and the limits of distances along a ray. `shape_hits` finds where rays hit solids.

Every solid has its own unit space. Up to four numbers a, b, c, d give its size:

========== =========================================================== =======================
kind       a, b, c, d                                                  size or orientation
========== =========================================================== =======================
SPHERE     -                                                           radius 1
BOX        half x, half y, half z, bevel radius                        axes along x, y, z
CYLINDER   radius, half height, bevel radius                           axis along z
CONE       radius at the bottom, radius at the top, half height        axis along z
TORUS      ring radius, tube radius                                    ring in the xy plane
MESH       -                                                           triangles in a tree
========== =========================================================== =======================
"""

SPHERE, BOX, CYLINDER, CONE, TORUS, MESH = range(6)

FAR = 1e30
NEAR = 1e-4
