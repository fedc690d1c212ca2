/* The caching allocator: blocks go back to free lists by size class and are handed out again, still mapped.
 *
 * Classes: multiples of 64 bytes up to 512, then eight per power of two. Blocks of 2 MiB and more ask for huge pages. Every
 * call is made with the GIL held, which is the lock.
 */
#ifndef RUSHLIGHT_ALLOCATOR_H
#define RUSHLIGHT_ALLOCATOR_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { CLASSES = 512, HUGE_BLOCK = 2 << 20 };

typedef struct block {
    struct block *next;
} block;

static block *free_blocks[CLASSES];
static struct {
    int64_t in_use, reserved, peak, hits, misses;
} allocator_count;

/* The class of a request and, through `size`, the bytes of its blocks. */
static inline int allocator_class(int64_t bytes, int64_t *size) {
    if (bytes <= 512) {
        int index = bytes <= 64 ? 0 : (int)((bytes - 1) >> 6);
        *size = ((int64_t)index + 1) << 6;
        return index;
    }
    int top = 63 - __builtin_clzll((uint64_t)(bytes - 1)); /* 2^top < bytes <= 2^(top+1) */
    int64_t step = (int64_t)1 << (top - 3);
    int64_t part = (bytes - 1 - ((int64_t)1 << top)) / step; /* 0..7 */
    *size = ((int64_t)1 << top) + (part + 1) * step;
    return 8 + (top - 9) * 8 + (int)part;
}

static int64_t allocator_release(void) {
    int64_t freed = 0;
    for (int index = 0; index < CLASSES; index++) {
        int64_t size = index < 8 ? ((int64_t)index + 1) << 6
                                 : ((int64_t)1 << (9 + (index - 8) / 8)) + ((index - 8) % 8 + 1) * ((int64_t)1 << (6 + (index - 8) / 8));
        while (free_blocks[index]) {
            block *b = free_blocks[index];
            free_blocks[index] = b->next;
            free(b);
            freed += size;
        }
    }
    allocator_count.reserved -= freed;
    return freed;
}

static void *allocator_fresh(int64_t size) {
    size_t alignment = size >= HUGE_BLOCK ? HUGE_BLOCK : 64;
    size_t rounded = ((size_t)size + alignment - 1) / alignment * alignment;
    void *pointer = NULL;
    if (posix_memalign(&pointer, alignment, rounded)) {
        allocator_release(); /* cached blocks of other sizes may be what is missing */
        if (posix_memalign(&pointer, alignment, rounded)) return NULL;
    }
    if (size >= HUGE_BLOCK) madvise(pointer, rounded, MADV_HUGEPAGE);
    allocator_count.reserved += size;
    allocator_count.misses++;
    return pointer;
}

/* At least `bytes` bytes, 64-byte aligned; NULL if there is no memory. */
static inline void *allocator_get(int64_t bytes) {
    int64_t size;
    if (bytes < 0 || bytes > ((int64_t)1 << 46)) return NULL;
    int index = allocator_class(bytes, &size);
    block *b = free_blocks[index];
    if (b) {
        free_blocks[index] = b->next;
        allocator_count.hits++;
    } else if (!(b = allocator_fresh(size))) {
        return NULL;
    }
    allocator_count.in_use += size;
    if (allocator_count.in_use > allocator_count.peak) allocator_count.peak = allocator_count.in_use;
    return b;
}

static inline void allocator_put(void *pointer, int64_t bytes) {
    int64_t size;
    int index = allocator_class(bytes, &size);
    block *b = pointer;
    b->next = free_blocks[index];
    free_blocks[index] = b;
    allocator_count.in_use -= size;
}

#endif
