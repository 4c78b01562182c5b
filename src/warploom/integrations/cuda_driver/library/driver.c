/* CUDA driver library that forwards each call to the emulator's process.

   The library contains no semantics of the driver API. The file functions.inc, which build.py generates, defines all
   functions. */

#define SERVER "the emulator"
#define SERVER_VARIABLE "WARPLOOM_EXEC"
#define COMMAND "warploom exec"
#include "connection.h"

struct Error {
    int code;
    const char *name, *text;
};

/* The functions that forward their calls, and the tables of all functions and of all errors. */
#include "functions.inc"

static const struct Error *find_error(int code) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return &errors[i];
    return NULL;
}

EXPORT Word cuGetErrorName(Word code, const char **name) {
    const struct Error *found = find_error((int)code);
    if (!name) return INVALID_VALUE;
    *name = found ? found->name : NULL;
    return found ? SUCCESS : INVALID_VALUE;
}

EXPORT Word cuGetErrorString(Word code, const char **text) {
    const struct Error *found = find_error((int)code);
    if (!text) return INVALID_VALUE;
    *text = found ? found->text : NULL;
    return found ? SUCCESS : INVALID_VALUE;
}

/* Find the newest form of a function that `version` of CUDA has. Bit 1 of `flags` asks for per-thread streams. */
EXPORT Word cuGetProcAddress_v2(const char *name, void **address, Word version, Word flags, int *status) {
    int is_known = 0;
    if (!name || !address || flags > 3 || (int)version > DRIVER_VERSION) return INVALID_VALUE;
    const struct Function *best =
        find_function(functions, sizeof functions / sizeof *functions, name, version, (flags & 2) != 0, &is_known);
    if (status) *status = best ? SYMBOL_FOUND : is_known ? SYMBOL_NEEDS_NEWER_VERSION : SYMBOL_NOT_FOUND;
    *address = best ? best->address : NULL;
    return best || status ? SUCCESS : NOT_FOUND;
}

EXPORT Word cuGetProcAddress_v2_ptsz(const char *name, void **address, Word version, Word flags, int *status) {
    return cuGetProcAddress_v2(name, address, version, flags | 2, status);
}

EXPORT Word cuGetProcAddress(const char *name, void **address, Word version, Word flags) {
    Word status = cuGetProcAddress_v2(name, address, version, flags, NULL);
    return status || *address ? status : NOT_FOUND;
}

/* Tables of functions that NVIDIA's runtime library asks for by an identifier. Their first word is their size. */

static const void *const runtime_table[13];
static const void *const check_table[3];

static Word check(uint32_t version, Word seconds, Word *result) {
    Word words[] = {version, seconds, (Word)result, (Word)runtime_table, (Word)check_table, (Word)check,
                    (Word)getpid(), (Word)pthread_self() & 0xffffffff};
    return forward(RUNTIME_CHECK, words, 8);
}

static void get_buffer(void **buffer, size_t *size) {
    static uint32_t words[1024];
    *buffer = words, *size = 1024;
}

static void get_small_buffer(void **buffer, size_t *size) {
    static uint32_t words[14];
    *buffer = words, *size = 14;
}

static Word check_context(Word context, uint32_t *result, const void **rest) {
    (void)context, (void)rest;
    *result = 0;
    return SUCCESS;
}

static Word nothing(void) { return 0; }

static const void *const runtime_table[13] = {
    [0] = (void *)sizeof runtime_table, [1] = runtime_load_module, [2] = runtime_get_context,
    [6] = runtime_load_module_with_options, [7] = nothing, [8] = runtime_load_fat_binary, [12] = nothing,
};
static const void *const check_table[3] = {[0] = (void *)sizeof check_table, [1] = check};
static const void *const storage_table[4] = {[0] = runtime_put, [1] = runtime_delete, [2] = runtime_get};
static const void *const hook_table[7] = {
    [0] = (void *)sizeof hook_table, [2] = get_buffer, [6] = get_small_buffer,
};
static const void *const thread_table[4] = {[0] = (void *)sizeof thread_table};
static const void *const context_table[4] = {
    [0] = (void *)sizeof context_table, [2] = check_context, [3] = nothing,
};

static const struct {
    unsigned char id[16];
    const void *const *table;
} tables[] = {
    {{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9}, runtime_table},
    {{0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2}, check_table},
    {{0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93}, storage_table},
    {{0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66}, hook_table},
    {{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc}, thread_table},
    {{0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e}, context_table},
};

EXPORT Word cuGetExportTable(const void **table, const void *id) {
    if (!table || !id) return INVALID_VALUE;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!memcmp(tables[i].id, id, 16)) {
            *table = tables[i].table;
            return SUCCESS;
        }
    return INVALID_VALUE;
}
