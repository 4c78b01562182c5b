"""Observers see the same run, whichever engine executes the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from observe.sanitize.launches import LAUNCHES

KERNELS = ["cp_async_mma", "double_buffer", "multicast", "named_barriers", "reduction", "st_async_ring"]


@pytest.mark.parametrize("name", KERNELS)
def test_both_engines_give_one_profile_trace_and_findings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    for engine in ("interpreter", "compiler"):
        monkeypatch.setenv("WARPLOOM_ENGINE", engine)
        made = LAUNCHES[name]
        runs.append([made.run(**{option: True})[0] for option in ("profile", "trace", "sanitize")])
    (profile, trace, checked), others = runs
    assert profile.profile is not None
    assert trace.trace is not None
    np.testing.assert_array_equal(profile.profile.rows, others[0].profile.rows)
    np.testing.assert_array_equal(trace.trace.events, others[1].trace.events)
    np.testing.assert_array_equal(trace.trace.arrows, others[1].trace.arrows)
    assert checked.findings == others[2].findings
