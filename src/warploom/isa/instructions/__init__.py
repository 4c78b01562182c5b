"""Instructions of PTX, with one file for each family. The import of the package declares every Form."""

from __future__ import annotations

from warploom.isa.instructions import approximate as approximate
from warploom.isa.instructions import async_copy as async_copy
from warploom.isa.instructions import atomic as atomic
from warploom.isa.instructions import barrier as barrier
from warploom.isa.instructions import bits as bits
from warploom.isa.instructions import bulk as bulk
from warploom.isa.instructions import cluster_launch as cluster_launch
from warploom.isa.instructions import compare as compare
from warploom.isa.instructions import control as control
from warploom.isa.instructions import convert as convert
from warploom.isa.instructions import floating as floating
from warploom.isa.instructions import half as half
from warploom.isa.instructions import integer as integer
from warploom.isa.instructions import logic as logic
from warploom.isa.instructions import matrix as matrix
from warploom.isa.instructions import mbarrier as mbarrier
from warploom.isa.instructions import memory as memory
from warploom.isa.instructions import mma as mma
from warploom.isa.instructions import move as move
from warploom.isa.instructions import multimem as multimem
from warploom.isa.instructions import sparse as sparse
from warploom.isa.instructions import stack as stack
from warploom.isa.instructions import tcgen05 as tcgen05
from warploom.isa.instructions import tcgen05_mma as tcgen05_mma
from warploom.isa.instructions import tensor as tensor
from warploom.isa.instructions import tensormap as tensormap
from warploom.isa.instructions import video as video
from warploom.isa.instructions import warp as warp
from warploom.isa.instructions import wgmma as wgmma
from warploom.isa.instructions import wmma as wmma
