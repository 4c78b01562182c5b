"""CUDA driver library on the emulator: it runs CUDA programs without a GPU.

A program loads the library in place of NVIDIA's `libcuda.so.1`. The library forwards each call to a server in the
process of `warploom exec`, which executes it.
"""
