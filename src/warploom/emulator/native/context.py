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
    PARAMETERS = 9  # virtual address of the kernel's parameters
    # Code
    CODE = 10  # address of the instructions
    COUNTS = 11  # address of the number of warps that have executed each instruction
    EXECUTED = 12  # number of warps that have executed the instruction at which `warploom.run` stopped
    # Batch
    ROWS = 13  # address of the indices of the batch's warp splits
    WARPS = 14  # address of the indices of their warps
    MASKS = 15  # address of their active lanes, as bits
    GUARDED = 16  # address of the lanes that a guard leaves active, as bits
    COUNT = 17  # number of warp splits in the batch
    FIRST_COUNT = 18  # number of its warp splits before native code suspended some of them
    EVENTS = 19  # address of the event for which each warp split of the batch must wait, or `warp_splits.NONE`
    SUSPENDED = 20  # number of warp splits that the executing instruction suspends
    SUSPENDS = 21  # 1 if native code may suspend warp splits
    # Warp splits
    SPLITS = 22  # number of slots
    WARP_SLOTS = 23  # number of slots of the warps, which come first
    STATUS = 24
    PC = 25
    EPOCH = 26
    WARP = 27
    BITS = 28  # address of the lanes of each warp split, as bits
    POINT = 29  # address of the indices of the reconvergence points
    CALLS = 30  # address of the numbers of the call stacks
    AWAITED = 31
    POINTS = 32  # address of the reconvergence points
    POINT_COUNT = 33  # number of reconvergence points that POINTS has space for
    EXTRA_SLOTS = 34  # number of slots after WARP_SLOTS that are in use
    OPEN_POINTS = 35  # number of reconvergence points in use
    FIRST_FREE_SLOT = 36  # all slots from WARP_SLOTS up to this one are in use
    FIRST_FREE_POINT = 37
    LIVE = 38  # address of the lanes of each warp that have not left the kernel, as bits
    SEEN = 39  # address of the number of the last batch of each warp
    CARRY = 40  # address of the carry flags of all lanes
    # Schedule
    BATCHES = 41
    LAST_BATCH = 42  # number of batches at which `warploom.schedule` returns
    DUE = 43  # number of batches from which a batch at WATCHED is not executed (see `watch.Watch`)
    WATCHED = 44  # program counter, or -1 for any
    UNWATCHED_LIMIT = 45  # number of batches from which no batch is executed
    COMPARED = 46  # address of the table of registers to compare
    COMPARED_FILES = 47  # number of its rows
    STEPS = 48  # number of batches of the wave
    SPENT = 49
    BUDGET = 50
    TICKS = 51
    RECENT = 52  # address of the first program counters of the last batches
    WHOLE = 53  # 1 if each warp split of the batch has all live lanes of its warp
    KEEPS_MATRICES = 54  # 1 if accumulators are cached as matrices
    # Barriers
    CTA_OF = 55  # address of the CTA of each warp
    LIVE_WARPS = 56  # address of the number of live warps of each CTA
    ARRIVED = 57  # address of the number of threads that have arrived at each barrier
    EXPECTED = 58  # address of the number of threads that each barrier expects, or 0
    CTA_THREADS = 59  # number of threads of a CTA, in whole warps
    PLAIN_BARRIERS = 60  # 1 if no barrier has votes, or a partly arrived warp
    TALLY = 61  # address of the number of threads of the batch that arrive at each barrier
    KEYS = 62  # address of the barrier of each warp of the batch
    # Exits
    ALLOWS_EXITS = 63  # 1 if no part of the emulator except native code must act when a warp exits
    EXITED_CTAS = 64  # number of CTAs whose last warp has exited
    # Observers
    EXECUTIONS = 65  # address of the executions of each instruction by warps and by lanes, or 0
    REPORT = 66  # address of the function that passes events to observers (see `Moment`)
    REPORTS_BLOCKS = 67  # 1 if an observer needs the start and the end of basic blocks
    SHARED = 68  # address of the bytes of shared memory
    ACCESS_SPACES = 69  # address of the recorded accesses of an instruction (see `probe`)
    ACCESS_INDEX = 70
    ACCESS_LANES = 71
    ACCESS_VALUES = 72
    # mbarriers and tensor copies
    INSTRUCTION = 73  # program counter of the executing instruction
    ARRIVAL_SITES = 74  # address of `Mbarriers.sites`
    ARRIVAL_LOG = 75  # address of `Mbarriers.log`
    PLAIN_WAITS = 76  # 1 if no wait has returned early, and none is for several mbarriers
    BLOCKING_WAITS = 77  # 1 if a blocking wait suspends its warp splits without early returns
    KNOWN_MAPS = 78  # address of the table of tensor maps (see `known_maps`)
    KNOWN_MAP_COUNT = 79


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
