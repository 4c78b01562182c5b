/* CUDA driver library that calls NVIDIA's driver library, and reports some of the calls to the process of
   `warploom capture`.

   An intercepted function sends its argument words to the server, preceded by the addresses of `real_function` and
   `shared_memory`. The server calls functions of the driver through these. All other functions call the driver
   directly. The file functions.inc, which build.py generates, defines all functions. */

#define SERVER "warploom capture"
#define SERVER_VARIABLE "WARPLOOM_CAPTURE"
#define COMMAND "warploom capture"
#include "connection.h"
#include <dlfcn.h>

enum { STUB_LIBRARY = 34 };

typedef Word (*Search)(const char *, void **, Word, Word, int *);
typedef Word (*OldSearch)(const char *, void **, Word, Word);
typedef Word (*Describe)(Word, const char **);
typedef Word (*GetTable)(const void **, const void *);

static void *library;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static pthread_mutex_t patching = PTHREAD_MUTEX_INITIALIZER;

static void open_library(void) {
    const char *path = getenv("WARPLOOM_REAL_DRIVER");
    library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        fprintf(stderr, "warploom: cannot load NVIDIA's driver: %s\n",
                path ? dlerror() : "its path is not set; start the program with 'warploom capture'");
}

static Word missing(void) { return STUB_LIBRARY; }

static void *find(const char *symbol) {
    pthread_once(&opened, open_library);
    void *found = library ? dlsym(library, symbol) : NULL;
    return found ? found : (void *)missing;
}

static void *real_function(Word number);
static void *shared_memory(void) { return memory; }

/* The functions, the table of all functions, and by the number of a function its symbol and the driver's function. */
#include "functions.inc"

/* Return the driver's function with a number. */
static void *real_function(Word number) {
    if (!reals[number]) reals[number] = find(symbols[number]);
    return reals[number];
}

EXPORT Word cuGetErrorName(Word code, const char **name) { return ((Describe)find("cuGetErrorName"))(code, name); }

EXPORT Word cuGetErrorString(Word code, const char **text) { return ((Describe)find("cuGetErrorString"))(code, text); }

/* Replace the address of a driver function by the one of this library, if there is one. */
static void replace(const char *name, void **address, Word version, int per_thread) {
    int is_known;
    const struct Function *found =
        find_function(functions, sizeof functions / sizeof *functions, name, version, per_thread, &is_known);
    if (*address && found && found->address) *address = found->address;
}

EXPORT Word cuGetProcAddress_v2(const char *name, void **address, Word version, Word flags, int *status) {
    Word result = ((Search)find("cuGetProcAddress_v2"))(name, address, version, flags, status);
    if (!result) replace(name, address, version, (flags & 2) != 0);
    return result;
}

EXPORT Word cuGetProcAddress_v2_ptsz(const char *name, void **address, Word version, Word flags, int *status) {
    Word result = ((Search)find("cuGetProcAddress_v2_ptsz"))(name, address, version, flags, status);
    if (!result) replace(name, address, version, 1);
    return result;
}

EXPORT Word cuGetProcAddress(const char *name, void **address, Word version, Word flags) {
    Word result = ((OldSearch)find("cuGetProcAddress"))(name, address, version, flags);
    if (!result) replace(name, address, version, (flags & 2) != 0);
    return result;
}

/* Table through which NVIDIA's runtime library loads modules. */
static const unsigned char runtime_table[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
static const struct {
    int position, number;
    void *address;
} runtime_functions[] = {
    {1, RUNTIME_LOAD_MODULE, runtime_load_module},
    {6, RUNTIME_LOAD_MODULE_WITH_OPTIONS, runtime_load_module_with_options},
    {8, RUNTIME_LOAD_FAT_BINARY, runtime_load_fat_binary},
};

/* Replace the functions of a table in place, because the runtime library checks the address of the table. */
static void patch(void **table) {
    size_t page = sysconf(_SC_PAGESIZE), size = (size_t)table[0];
    uintptr_t start = (uintptr_t)table & -page, end = ((uintptr_t)table + size + page - 1) & -page;
    for (size_t i = 0; i < sizeof runtime_functions / sizeof *runtime_functions; i++) {
        void **entry = &table[runtime_functions[i].position];
        if (runtime_functions[i].position * sizeof *table >= size || *entry == runtime_functions[i].address) continue;
        if (mprotect((void *)start, end - start, PROT_READ | PROT_WRITE)) return;
        reals[runtime_functions[i].number] = *entry;
        *entry = runtime_functions[i].address;
    }
}

EXPORT Word cuGetExportTable(const void **table, const void *id) {
    Word result = ((GetTable)find("cuGetExportTable"))(table, id);
    if (!result && !memcmp(id, runtime_table, sizeof runtime_table)) {
        pthread_mutex_lock(&patching);
        patch((void **)*table);
        pthread_mutex_unlock(&patching);
    }
    return result;
}
