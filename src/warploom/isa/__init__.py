"""The instructions: one file per family. Importing the package declares every form."""

from __future__ import annotations

from warploom.isa import approximate as approximate
from warploom.isa import bits as bits
from warploom.isa import compare as compare
from warploom.isa import convert as convert
from warploom.isa import floating as floating
from warploom.isa import half as half
from warploom.isa import integer as integer
from warploom.isa import logic as logic
from warploom.isa import move as move
from warploom.isa import special as special
