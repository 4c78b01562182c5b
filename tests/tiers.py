"""Tiers of the test suite: the only place that assigns tests to `make test-evidence` and `make test-gpu`.

`make test` runs every other test. It is the core suite and takes at most four minutes on two idle cores.
"""

from __future__ import annotations

import re

CORE_CORPUS = "gemm_f16_nn_16x16_1w|gluon_wgmma_ss_f16_64x8x64|softmax_bf16|vadd_f32|gemm_f16_tma_hostdesc|cluster_tma"
"""Files of tests/corpus with which slow tests run in the core suite; the other files run as evidence."""

EVIDENCE = {
    "recorded answers of ptxas, nvcc, MLIR and GPUs": (
        r"evidence/",
        r"check/test_recorded_near_misses\.py",
        r"kernels/test_configurations\.py",
        r"numerics/test_approximate\.py::test_whole_binades_of_an_h200",
    ),
    "execution of the documentation, notebooks, and distributions": (
        r"project/test_doc_blocks\.py::test_a_page_runs",
        r"project/test_release\.py::test_the_(wheel|source)",
        r"view/test_notebooks\.py",
    ),
    "fuzzing and long random tests": (
        r"check/test_incremental_check\.py::test_random_edits",
        r"fuzz/test_fuzz\.py::",
        r"lsp/test_documents\.py::test_random_edits",
        r"emulator/native/test_lanewise\.py::test_more_variants_of_a_form",
        r"emulator/native/test_programs\.py::test_more_random_programs",
        r"emulator/test_tcgen05_random\.py::test_more_multiplications",
        r"numerics/test_approximate\.py::test_gross_double_forms",
        r"ptx/test_incremental_parse\.py::test_random_edits",
        r"ptx/test_round_trip\.py::test_many_modules",
    ),
    "processes that are killed, refused or restarted": (
        r"integrations/dask/test_cluster\.py::test_a_worker_is_killed_at_random_moments",
        r"integrations/dask/test_worker_pool\.py::test_a_local_cluster_is_reused_and_restarted",
        r"integrations/dask/test_refusals\.py::test_a_worker_(of_another_version|without_the_package)_is_refused",
        r"surface/test_wrong_uses\.py::test_a_wrong_use_ends_with_a_sentence\[signals-an interrupt of a cluster",
        r"lab/test_campaigns\.py::test_a_killed_campaign_continues_from_its_checkpoint",
        r"lab/test_small_kernels\.py::test_a_hanging_kernel_ends_only_its_own_process",
        r"lab/test_tensor_campaign\.py::test_a_crash_or_hang_affects_no_other_work",
    ),
    "further parameters of core tests": (
        r"integrations/dask/test_cluster\.py::test_a_launch_on_workers_equals_one_in_one_process\[(gemm|flash)_\w+\.ptx",
        r"integrations/frameworks/test_frameworks\.py::test_an_example_prints_\w+\[\w+-ptx\]",
        r"author/test_examples\.py::test_the_gemm_is_right_and_silent\[shape0-(lazy|random:3)\]",
        rf"author/test_rebuild\.py::test_a_file_is_built_again\[(?!{CORE_CORPUS})",
        rf"integrations/dask/test_grid\.py::test_compiled_kernels_in_parts\[(?!{CORE_CORPUS}|gemm_f16_nn_sm80)",
        r"integrations/dask/test_grid\.py::test_examples_in_parts\[(?!gemm_warp_specialised|attention\.)",
        r"lab/test_campaign\.py::test_experiments_of_every_family_run\[(wgmma|approximate)",
        r"lab/test_campaigns\.py::test_every_record_is_compared_by_dask_workers",
        r"lab/test_cases_of_forms\.py::test_legal_probes_are_parsed",
        r"lab/test_gemm_campaign\.py::test_a_record_is_compared_without_a_gpu",
        r"nvvm/test_lifting\.py::test_another_kernel_is_unchanged\[(?!double_buffer|multicast|tma_ring|st_async)",
        rf"nvvm/test_lifting\.py::test_a_kernel_of_the_corpus_is_unchanged\[(?!{CORE_CORPUS})",
        r"project/test_without_numba\.py::test_the_same_tests_pass_without_numba\[(?!memory)",
        r"observe/sanitize/protocol/test_protocol\.py::test_every_mutant_is_judged",
        r"observe/sanitize/protocol/test_protocol\.py::test_what_the_manual_allows_leaves_the_right_results",
        r"observe/sanitize/test_silence\.py::test_a_kernel_of_the_corpus_is_silent\[.*random",
        rf"observe/sanitize/test_silence\.py::test_a_kernel_of_the_corpus_is_silent\[(?!{CORE_CORPUS}).*lazy",
        r"runtime/test_corpus\.py::test_the_bits_do_not_depend_on_schedule_and_workers\[.*random:[2-5]",
        rf"runtime/test_corpus\.py::test_the_bits_do_not_depend_on_schedule_and_workers\[(?!{CORE_CORPUS}).*random:1",
        rf"runtime/test_corpus\.py::test_results_are_within_the_bound_that_their_sums_imply\[(?!{CORE_CORPUS}).*-1\]",
    ),
}
"""Regular expressions of test identifiers, relative to this folder, by subject."""

BROWSER_FIXTURES = {"browser", "chromium"}
"""Fixtures that start a browser; their tests belong to the evidence."""

GPU = (r"gpu/test_here\.py",)
"""Tests that need a GPU and are skipped without one."""

GPU_TOO = (r"runtime/",)
"""Core tests that also run on a GPU if there is one."""


def markers(identifier: str, fixtures: set[str]) -> list[str]:
    """Return the markers of a test: `evidence`, `gpu`, or `gpu_too`."""
    found: list[str] = []
    patterns = [pattern for subject in EVIDENCE.values() for pattern in subject]
    if _matches(patterns, identifier) or fixtures & BROWSER_FIXTURES:
        found.append("evidence")
    if _matches(GPU, identifier):
        found.append("gpu")
    elif _matches(GPU_TOO, identifier):
        found.append("gpu_too")
    return found


def _matches(patterns: list[str] | tuple[str, ...], identifier: str) -> bool:
    return any(re.match(pattern, identifier) for pattern in patterns)
