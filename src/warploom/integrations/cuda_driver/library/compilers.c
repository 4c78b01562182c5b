/* Audit library that makes NVRTC and nvJitLink return PTX where a program asks for GPU code.

   The emulator executes PTX. Programs such as numba-cuda compile or link a kernel to GPU code and pass it to the driver.
   The dynamic linker calls la_symbind64 for each function of the two libraries that a program binds, also by dlsym, and
   uses the address that la_symbind64 returns. See rtld-audit(7).

   NVRTC keeps the PTX of a program that it compiles for a GPU. nvJitLink returns PTX if it links LTO-IR with the option
   -ptx. The result of linking a single PTX text is the text itself. In all other cases the program gets GPU code, which
   the driver library refuses.

   An audit library has its own instance of the C library, which does not know the threads of the program. This file
   therefore calls no function of the C library that has a state, such as malloc. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

typedef void *Handle;

enum { SUCCESS = 0, PTX = 2, MOST_OPTIONS = 64 };

/* Link with inputs. `text` is its first input if that is PTX; `size` includes the zero at its end. */
struct Link {
    struct Link *next;
    Handle handle;
    size_t inputs, size, mapped;
    char *text;
};

static struct Link *links;
static uintptr_t linker; /* the nvJitLink that the functions below belong to; another one in the process stays as it is */
static atomic_flag busy = ATOMIC_FLAG_INIT;

static int (*create)(Handle *link, uint32_t count, const char **options);
static int (*add_data)(Handle link, int kind, const void *data, size_t size, const char *name);
static int (*add_file)(Handle link, int kind, const char *path);
static int (*code_size)(Handle link, size_t *size), (*ptx_size)(Handle link, size_t *size);
static int (*code)(Handle link, void *target), (*ptx)(Handle link, void *target);
static int (*destroy)(Handle *link);

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {}
}

static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

static void *map(size_t size) {
    void *found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return found == MAP_FAILED ? NULL : found;
}

/* Return the place of the pointer to a link in the list; it contains a null pointer for a link without inputs. */
static struct Link **place_of(Handle handle) {
    struct Link **place = &links;
    while (*place && (*place)->handle != handle) place = &(*place)->next;
    return place;
}

static void count_input(Handle handle, const char *text, size_t size) {
    lock();
    struct Link **place = place_of(handle);
    if (!*place && (*place = map(sizeof **place))) (*place)->handle = handle;
    struct Link *link = *place;
    if (link && !link->inputs++ && text && (link->text = map(size + 1))) {
        memcpy(link->text, text, size);
        link->mapped = size + 1, link->size = strlen(link->text) + 1;
    }
    unlock();
}

/* Copy the single PTX text of a link, or its size, and return 1; return 0 for other links. */
static int single_text(Handle handle, size_t *size, void *target) {
    lock();
    struct Link *link = *place_of(handle);
    int is_single = link && link->inputs == 1 && link->text;
    if (is_single && size) *size = link->size;
    if (is_single && target) memcpy(target, link->text, link->size);
    unlock();
    return is_single;
}

static int link_create(Handle *link, uint32_t count, const char **options) {
    const char *more[MOST_OPTIONS + 1];
    int is_lto = 0, has_ptx = 0;
    for (uint32_t i = 0; i < count && i < MOST_OPTIONS; i++) {
        more[i] = options[i];
        is_lto |= !strcmp(options[i], "-lto") || !strcmp(options[i], "-dlto");
        has_ptx |= !strcmp(options[i], "-ptx");
    }
    if (!is_lto || has_ptx || count > MOST_OPTIONS) return create(link, count, options);
    more[count] = "-ptx";
    return create(link, count + 1, more);
}

static int link_add_data(Handle link, int kind, const void *data, size_t size, const char *name) {
    count_input(link, kind == PTX ? data : NULL, size);
    return add_data(link, kind, data, size, name);
}

static int link_add_file(Handle link, int kind, const char *path) {
    count_input(link, NULL, 0);
    return add_file(link, kind, path);
}

static int link_code_size(Handle link, size_t *size) {
    if (single_text(link, size, NULL) || ptx_size(link, size) == SUCCESS) return SUCCESS;
    return code_size(link, size);
}

static int link_code(Handle link, void *target) {
    size_t size;
    if (single_text(link, NULL, target)) return SUCCESS;
    return ptx_size(link, &size) == SUCCESS ? ptx(link, target) : code(link, target);
}

static int link_destroy(Handle *handle) {
    lock();
    struct Link **place = handle ? place_of(*handle) : &links, *link = handle ? *place : NULL;
    if (link) {
        *place = link->next;
        if (link->text) munmap(link->text, link->mapped);
        munmap(link, sizeof *link);
    }
    unlock();
    return destroy(handle);
}

/* Functions to replace. `original` receives the address of the function. A function without a replacement is replaced
   by the function `other` of the same library. */
static const struct {
    const char *name;
    void *replacement;
    void **original;
    const char *other;
} functions[] = {
    {"nvrtcGetCUBIN", NULL, NULL, "nvrtcGetPTX"},
    {"nvrtcGetCUBINSize", NULL, NULL, "nvrtcGetPTXSize"},
    {"nvJitLinkCreate", link_create, (void **)&create, NULL},
    {"nvJitLinkAddData", link_add_data, (void **)&add_data, NULL},
    {"nvJitLinkAddFile", link_add_file, (void **)&add_file, NULL},
    {"nvJitLinkGetLinkedCubinSize", link_code_size, (void **)&code_size, NULL},
    {"nvJitLinkGetLinkedCubin", link_code, (void **)&code, NULL},
    {"nvJitLinkDestroy", link_destroy, (void **)&destroy, NULL},
};

/* Compare a function's name with that of a symbol, which may have the form __NAME_13_0. */
static int is_named(const char *symbol, const char *name) {
    size_t length = strlen(name);
    if (!strncmp(symbol, "__", 2)) symbol += 2;
    return !strncmp(symbol, name, length) && (!symbol[length] || symbol[length] == '_');
}

unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie) {
    (void)space;
    *cookie = (uintptr_t)map; /* dlsym takes it as a handle */
    int is_compiler = strstr(map->l_name, "libnvrtc.so") || strstr(map->l_name, "libnvJitLink.so");
    return LA_FLG_BINDFROM | (is_compiler ? LA_FLG_BINDTO : 0);
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned number, uintptr_t *from, uintptr_t *to, unsigned *flags,
                       const char *name) {
    (void)number, (void)from, (void)flags;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!is_named(name, functions[i].name)) continue;
        if (!functions[i].replacement) {
            void *other = dlsym((void *)*to, functions[i].other);
            return other ? (uintptr_t)other : symbol->st_value;
        }
        if (!linker) {
            *(void **)&ptx_size = dlsym((void *)*to, "nvJitLinkGetLinkedPtxSize");
            *(void **)&ptx = dlsym((void *)*to, "nvJitLinkGetLinkedPtx");
            if (ptx_size && ptx) linker = *to;
        }
        if (linker != *to) break;
        *functions[i].original = (void *)symbol->st_value;
        return (uintptr_t)functions[i].replacement;
    }
    return symbol->st_value;
}
