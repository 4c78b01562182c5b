"""The instructions: one file per family. Importing the package declares every form."""

from __future__ import annotations

from warploom.isa import approximate as approximate
from warploom.isa import async_copy as async_copy
from warploom.isa import atomic as atomic
from warploom.isa import barrier as barrier
from warploom.isa import bits as bits
from warploom.isa import bulk as bulk
from warploom.isa import cluster_launch as cluster_launch
from warploom.isa import compare as compare
from warploom.isa import control as control
from warploom.isa import convert as convert
from warploom.isa import floating as floating
from warploom.isa import half as half
from warploom.isa import integer as integer
from warploom.isa import lenient as lenient
from warploom.isa import lenient_memory as lenient_memory
from warploom.isa import logic as logic
from warploom.isa import matrix as matrix
from warploom.isa import mbarrier as mbarrier
from warploom.isa import memory as memory
from warploom.isa import mma as mma
from warploom.isa import move as move
from warploom.isa import multimem as multimem
from warploom.isa import sparse as sparse
from warploom.isa import special as special
from warploom.isa import stack as stack
from warploom.isa import tcgen05 as tcgen05
from warploom.isa import tcgen05_mma as tcgen05_mma
from warploom.isa import tensor as tensor
from warploom.isa import tensormap as tensormap
from warploom.isa import video as video
from warploom.isa import warp as warp
from warploom.isa import wgmma as wgmma
from warploom.isa import wmma as wmma
