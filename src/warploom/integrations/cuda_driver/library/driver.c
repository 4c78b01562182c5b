/* CUDA driver library that forwards each call to the emulator's process.

   The library contains no semantics of the driver API. A call sends its argument words over a socket. The other side
   then sends commands, which read and write the memory of the program, and at last the status of the call.
   protocol.py describes the messages. The file functions.inc, which build.py generates, defines all functions.

   Each thread has its own connection. */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t Word;
typedef Word (*Callback)(Word, Word, Word, Word);

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, DEINITIALIZED = 4, NO_DEVICE = 100, NOT_FOUND = 500,
       NOT_PERMITTED = 800 };
enum { CALL = 1, REPLY = 2, RETURN = 3, READ = 4, READ_STRING = 5, WRITE = 6, TO_DEVICE = 7, FROM_DEVICE = 8, MAP = 9,
       UNMAP = 10, CALL_BACK = 11, PRINT = 12 };
enum { SYMBOL_FOUND = 0, SYMBOL_NOT_FOUND = 1, SYMBOL_NEEDS_NEWER_VERSION = 2 };

struct Message {
    uint32_t kind;
    uint32_t count;
    Word a, b, c;
};

static uint8_t *memory;    /* the emulated device memory, for copies */
static Word memory_size;
static int memory_file = -1;
static pid_t owner;        /* process that opened the first connection */
static Word image;         /* number of this execution: a process that calls exec has another number afterwards */
static int lost;           /* set if the emulator's process has ended */
static pthread_mutex_t setup = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_thread_exit;
static pthread_once_t keys = PTHREAD_ONCE_INIT;
static __thread int connection = -1;
static __thread int in_callback; /* true while the thread executes a function of the program for the emulator */

/* End the program as the access of a wrong address does, because the program passed such an address. */
static int check_address(void) {
    if (errno != EFAULT) return -1;
    fprintf(stderr, "warploom: the program passed an address that it cannot access to a driver function\n");
    return raise(SIGSEGV);
}

static int send_all(const void *data, size_t size) {
    const char *next = data;
    while (size) {
        ssize_t sent = send(connection, next, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return check_address();
        next += sent, size -= sent;
    }
    return 0;
}

static int receive_all(void *data, size_t size) {
    char *next = data;
    while (size) {
        ssize_t received = recv(connection, next, size, 0);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) return received ? check_address() : -1;
        next += received, size -= received;
    }
    return 0;
}

/* Receive the first message of a connection, with the file of the device memory. */
static int receive_memory(void) {
    struct Message hello;
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&hello, sizeof hello};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t received;
    errno = 0;
    do received = recvmsg(connection, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received >= 0 && message.msg_flags & MSG_CTRUNC) errno = EMFILE;
    struct cmsghdr *attached = CMSG_FIRSTHDR(&message);
    if (received != sizeof hello || !attached || attached->cmsg_type != SCM_RIGHTS) return -1;
    int file;
    memcpy(&file, CMSG_DATA(attached), sizeof file);
    if (memory) {
        close(file);
        return 0;
    }
    void *found = mmap(NULL, hello.a, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (found == MAP_FAILED) {
        close(file);
        return -1;
    }
    memory = found, memory_size = hello.a, memory_file = file, owner = getpid();
    return 0;
}

static void close_connection(void *file) {
    close((int)(intptr_t)file - 1);
    connection = -1; /* destructors that run later may call functions */
}

static void create_key(void) { pthread_key_create(&at_thread_exit, close_connection); }

/* Connect the calling thread with the emulator's process. Return the status of the driver function. */
static Word connect_thread(void) {
    const char *name = getenv("WARPLOOM_EXEC");
    if (!name) {
        fprintf(stderr, "warploom: this libcuda.so.1 needs an emulator; start the program with 'warploom exec'\n");
        return NO_DEVICE;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length > sizeof address.sun_path - 1) return NO_DEVICE;
    memcpy(address.sun_path + 1, name, length); /* an abstract name, which needs no file */
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    pthread_mutex_lock(&setup);
    if (!image) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        image = (Word)now.tv_sec * 1000000000 + now.tv_nsec;
    }
    int failed = connection < 0 || connect(connection, (struct sockaddr *)&address, size) ||
                 send_all(&image, sizeof image) || receive_memory();
    int cause = errno;
    pthread_mutex_unlock(&setup);
    if (failed) {
        if (connection >= 0) close(connection);
        connection = -1;
        lost = cause == ECONNREFUSED;
        const char *reason = lost              ? "its process has ended"
                             : cause == ENOMEM ? "the program's address space is limited (ulimit -v)"
                             : cause == EMFILE ? "the program has too many open files (ulimit -n)"
                             : cause           ? strerror(cause)
                                               : "it has no memory for the device";
        fprintf(stderr, "warploom: cannot connect to the emulator: %s\n", reason);
        return NO_DEVICE;
    }
    pthread_once(&keys, create_key);
    pthread_setspecific(at_thread_exit, (void *)(intptr_t)(connection + 1));
    return SUCCESS;
}

static int reply(const void *data, Word size) {
    struct Message header = {.kind = REPLY, .a = size};
    return send_all(&header, sizeof header) || send_all(data, size);
}

static int reply_word(Word word) { return reply(&word, sizeof word); }

static void *device_address(const struct Message *command) {
    return command->a <= memory_size && command->c <= memory_size - command->a ? memory + command->a : NULL;
}

/* Make a range of the device memory accessible to the program, at the address that kernels use. */
static Word map(const struct Message *command) {
    void *found = mmap((void *)command->b, command->c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                       memory_file, (off_t)command->a);
    if (found == (void *)command->b) return 0;
    if (found != MAP_FAILED) munmap(found, command->c);
    return 1;
}

/* Print a text of a kernel on the program's standard output, in the order of the program's own output. */
static int print(Word size) {
    char text[4096];
    while (size) {
        size_t part = size < sizeof text ? size : sizeof text;
        if (receive_all(text, part)) return -1;
        fwrite(text, 1, part, stdout);
        size -= part;
    }
    return 0;
}

/* Execute one command of the emulator's process. */
static int execute(const struct Message *command) {
    void *host = (void *)command->b;
    switch (command->kind) {
    case READ:
        return reply((void *)command->a, command->b);
    case READ_STRING:
        return reply((void *)command->a, strnlen((char *)command->a, command->b));
    case WRITE:
        return receive_all((void *)command->a, command->b);
    case TO_DEVICE:
        if (device_address(command)) memcpy(device_address(command), host, command->c);
        return 0;
    case FROM_DEVICE:
        if (device_address(command)) memcpy(host, device_address(command), command->c);
        return 0;
    case MAP:
        return reply_word(map(command));
    case UNMAP:
        munmap((void *)command->b, command->c);
        return 0;
    case PRINT:
        return print(command->a);
    case CALL_BACK: {
        Word arguments[4];
        if (receive_all(arguments, sizeof arguments)) return -1;
        in_callback = 1;
        Word result = ((Callback)command->a)(arguments[0], arguments[1], arguments[2], arguments[3]);
        in_callback = 0;
        return reply_word(result);
    }
    default:
        return -1;
    }
}

/* Forward a call of function `number`. Return its status. */
static Word forward(uint32_t number, const Word *words, uint32_t count) {
    if (lost) return DEINITIALIZED;
    if (in_callback) return NOT_PERMITTED;
    if (owner && owner != getpid()) return NOT_INITIALIZED; /* a context does not survive a fork */
    if (connection < 0) {
        Word status = connect_thread();
        if (status) return status;
    }
    struct Message message = {.kind = CALL, .count = count, .a = number};
    int failed = send_all(&message, sizeof message) || send_all(words, count * sizeof *words);
    while (!failed && !(failed = receive_all(&message, sizeof message))) {
        if (message.kind == RETURN) return message.a;
        failed = execute(&message);
    }
    fprintf(stderr, "warploom: the connection to the emulator is lost; its process has ended\n");
    lost = 1;
    return DEINITIALIZED;
}

struct Function {
    const char *symbol, *name;
    int version;
    int per_thread; /* true if the default stream belongs to the calling thread */
    void *address;
};

struct Error {
    int code;
    const char *name, *text;
};

/* Functions that this file defines. */
EXPORT Word cuGetErrorName(Word code, const char **name);
EXPORT Word cuGetErrorString(Word code, const char **text);
EXPORT Word cuGetProcAddress(const char *name, void **address, Word version, Word flags);
EXPORT Word cuGetProcAddress_v2(const char *name, void **address, Word version, Word flags, int *status);
EXPORT Word cuGetProcAddress_v2_ptsz(const char *name, void **address, Word version, Word flags, int *status);
EXPORT Word cuGetExportTable(const void **table, const void *id);

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
    const struct Function *best = NULL;
    int per_thread = (flags & 2) != 0, is_known = 0;
    if (!name || !address || flags > 3 || (int)version > DRIVER_VERSION) return INVALID_VALUE;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct Function *each = &functions[i];
        if (strcmp(each->name, name) || (each->per_thread && !per_thread)) continue;
        is_known = 1;
        if ((Word)each->version > (uint32_t)version) continue;
        if (!best || each->per_thread > best->per_thread ||
            (each->per_thread == best->per_thread && each->version >= best->version))
            best = each;
    }
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
