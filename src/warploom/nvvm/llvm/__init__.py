"""LLVM's NVPTX back end: from the text of LLVM IR to PTX, and from each call to its instructions."""
