"""Syntax that ptxas accepts beyond the manual. Importing this package declares its Forms."""

from warploom.check.ptxas import forms as forms
from warploom.check.ptxas import memory_forms as memory_forms
