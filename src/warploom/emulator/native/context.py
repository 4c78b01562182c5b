"""Context array of 64-bit fields that native functions and the emulator share."""

from enum import IntEnum


class Field(IntEnum):
    """Index of a 64-bit number in the context of native functions.

    Addresses are host addresses of arrays.
    """

    # Memories
    ARENA = 0  # address of the bytes of global memory
    SEGMENTS = 1  # number of segments
    SEGMENT_STARTS = 2  # address of their first virtual addresses
    SEGMENT_ENDS = 3
    SEGMENT_STATES = 4
    SHARED_WINDOWS = 5  # address of three numbers for each warp: first address, end, distance to pointers
    LOCAL_START = 6
    LOCAL_STRIDE = 7  # bytes of local memory for each thread
    LOCAL_BYTES = 8
    PARAMETERS = 71  # virtual address of the kernel's parameters
    # Code
    CODE = 9  # address of the instructions
    COUNTS = 10  # address of the number of warps that have executed each instruction
    EXECUTED = 11  # number of warps that have executed the instruction at which `warploom.run` stopped
    # Batch
    ROWS = 12  # address of the indices of the batch's warp splits
    WARPS = 13  # address of the indices of their warps
    MASKS = 14  # address of their active lanes, as bits
    GUARDED = 15  # address of the lanes that a guard leaves active, as bits
    COUNT = 16  # number of warp splits in the batch
    # Warp splits
    SPLITS = 17  # number of slots
    WARP_SLOTS = 18  # number of slots of the warps, which come first
    STATUS = 19
    PC = 20
    EPOCH = 21
    WARP = 22
    BITS = 23  # address of the lanes of each warp split, as bits
    POINT = 24  # address of the indices of the reconvergence points
    CALLS = 25  # address of the numbers of the call stacks
    POINTS = 26  # address of the reconvergence points
    POINT_COUNT = 27  # number of reconvergence points that POINTS has space for
    EXTRA_SLOTS = 28  # number of slots after WARP_SLOTS that are in use
    OPEN_POINTS = 29  # number of reconvergence points in use
    FIRST_FREE_SLOT = 30  # all slots from WARP_SLOTS up to this one are in use
    FIRST_FREE_POINT = 31
    LIVE = 32  # address of the lanes of each warp that have not left the kernel, as bits
    SEEN = 33  # address of the number of the last batch of each warp
    CARRY = 34  # address of the carry flags of all lanes
    # Schedule
    BATCHES = 35
    LAST_BATCH = 36  # number of batches at which `warploom.schedule` returns
    DUE = 37  # number of batches from which a batch at WATCHED is not executed (see `watch.Watch`)
    WATCHED = 38  # program counter, or -1 for any
    UNWATCHED_LIMIT = 39  # number of batches from which no batch is executed
    COMPARED = 40  # address of the table of registers to compare
    COMPARED_FILES = 41  # number of its rows
    STEPS = 42  # number of batches of the wave
    SPENT = 43
    BUDGET = 44
    TICKS = 45
    RECENT = 46  # address of the first program counters of the last batches
    WHOLE = 47  # 1 if each warp split of the batch has all live lanes of its warp
    KEEPS_MATRICES = 48  # 1 if accumulators are cached as matrices
    # Barriers
    CTA_OF = 49  # address of the CTA of each warp
    LIVE_WARPS = 50  # address of the number of live warps of each CTA
    ARRIVED = 51  # address of the number of threads that have arrived at each barrier
    TALLY = 52  # address of the number of threads of the batch that arrive at each barrier
    KEYS = 53  # address of the barrier of each warp of the batch
    # Exits
    ALLOWS_EXITS = 54  # 1 if no part of the emulator except native code must act when a warp exits
    EXITED_CTAS = 55  # number of CTAs whose last warp has exited
    # Observers
    EXECUTIONS = 56  # address of the executions of each instruction by warps and by lanes, or 0
    REPORT = 57  # address of the function that passes events to observers (see `Moment`)
    REPORTS_BLOCKS = 58  # 1 if an observer needs the start and the end of basic blocks
    SHARED = 59  # address of the bytes of shared memory
    ACCESS_SPACES = 60  # address of the recorded accesses of an instruction (see `probe`)
    ACCESS_INDEX = 61
    ACCESS_LANES = 62
    ACCESS_VALUES = 63
    # mbarriers and tensor copies
    INSTRUCTION = 64  # program counter of the executing instruction
    AWAITED = 65  # address of the index of the mbarrier for which each warp split waits, or a negative number
    ARRIVAL_SITES = 66  # address of `Mbarriers.sites`
    ARRIVAL_LOG = 70  # address of `Mbarriers.log`
    PLAIN_WAITS = 67  # 1 if no wait has returned early, and none is for several mbarriers
    KNOWN_MAPS = 68  # address of the table of tensor maps (see `known_maps`)
    KNOWN_MAP_COUNT = 69


class Moment(IntEnum):
    """Moment at which native code calls the function REPORT with a program counter and this value."""

    GUARD = 0  # before the evaluation of a guard
    EXECUTE = 1  # before an instruction has an effect
    BEGIN = 2  # before a basic block
    END = 3  # after a basic block


class Stop(IntEnum):
    """Reason why `warploom.schedule` returned."""

    SELECT = 0  # the next batch must be selected by the emulator
    RESUME = 1  # the batch continues in the interpreter, at the returned program counter
    PAUSE = 2  # the emulator must check its limits before the next batch
