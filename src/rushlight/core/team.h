/* The thread team: one per process, made on the first parallel launch, remade in a forked child.
 *
 * A launch splits its range into pieces that threads take from a shared counter. The caller works too. Workers wait for
 * the next launch by spinning briefly, then sleep on a futex: sleeping threads cost nothing. A launch that finds the team
 * busy (another Python thread, or a nested launch) runs on its own thread.
 */
#ifndef RUSHLIGHT_TEAM_H
#define RUSHLIGHT_TEAM_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef void (*kernel_fn)(void *const *buffers, const int64_t *params, int64_t begin, int64_t end);

enum { TEAM_MAX = 256, SPIN_NANOSECONDS = 30000 };
#define OPEN 0x80000000ull

typedef struct {
    kernel_fn kernel;
    void *const *buffers;
    const int64_t *params;
    int64_t range, piece, scratch;
    int helpers; /* workers that take part: the team may have been larger once */
    int count;   /* buffers listed; the scratch pointer goes behind them */
} team_job;

static struct {
    team_job job;
    _Atomic int64_t next;        /* first index not yet taken */
    _Atomic uint32_t generation; /* counts launches; workers wait for it to change */
    _Atomic uint64_t door;       /* generation << 32 | OPEN | workers inside: who comes late stays out */
    _Atomic int failed;          /* a thread could not get its scratch memory */
    _Atomic int busy;            /* a launch owns the team */
    int workers, wanted, prepared;
} team;

static __thread int team_is_worker;
static __thread void *team_scratch;
static __thread int64_t team_scratch_size;

static pthread_key_t team_scratch_key; /* frees the scratch memory of threads that end */
static pthread_once_t team_scratch_once = PTHREAD_ONCE_INIT;

static void team_make_scratch_key(void) { pthread_key_create(&team_scratch_key, free); }

static void *team_scratch_of(int64_t size) {
    if (size > team_scratch_size) {
        pthread_once(&team_scratch_once, team_make_scratch_key);
        free(team_scratch);
        team_scratch_size = 0;
        team_scratch = aligned_alloc(64, (size_t)((size + 4095) / 4096 * 4096));
        if (team_scratch) team_scratch_size = size;
        pthread_setspecific(team_scratch_key, team_scratch);
    }
    return team_scratch;
}

/* Take pieces until none is left. */
static void team_work(const team_job *job) {
    void *local[64];
    void *const *buffers = job->buffers;
    if (job->scratch) {
        void **copy = job->count < 64 ? local : malloc(sizeof(void *) * (size_t)(job->count + 1));
        void *scratch = team_scratch_of(job->scratch);
        if (!copy || !scratch) {
            atomic_store(&team.failed, 1);
            if (copy && copy != local) free(copy);
            return;
        }
        memcpy(copy, job->buffers, sizeof(void *) * (size_t)job->count);
        copy[job->count] = scratch;
        buffers = copy;
    }
    for (;;) {
        int64_t begin = atomic_fetch_add(&team.next, job->piece);
        if (begin >= job->range) break;
        int64_t end = job->range - begin > job->piece ? begin + job->piece : job->range;
        job->kernel(buffers, job->params, begin, end);
    }
    if (buffers != job->buffers && buffers != local) free((void *)buffers);
}

static inline int64_t team_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void team_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Wait until *word differs from `seen`. */
static void team_wait(_Atomic uint32_t *word, uint32_t seen) {
    int64_t until = team_now() + SPIN_NANOSECONDS;
    for (int i = 0; atomic_load_explicit(word, memory_order_acquire) == seen; i++) {
        team_pause();
        if ((i & 63) == 63 && team_now() > until)
            syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    }
}

/* Join the launch of generation `seen`, unless it has closed. */
static int team_enter(uint32_t seen) {
    uint64_t door = atomic_load(&team.door);
    while (door >> 32 == seen && door & OPEN)
        if (atomic_compare_exchange_weak(&team.door, &door, door + 1)) return 1;
    return 0;
}

static void *team_worker(void *argument) {
    uint32_t seen = (uint32_t)(uintptr_t)argument;
    int index = (int)((uintptr_t)argument >> 32);
    team_is_worker = 1;
    for (;;) {
        team_wait(&team.generation, seen);
        seen = atomic_load(&team.generation);
        if (team_enter(seen)) {
            if (index < team.job.helpers) team_work(&team.job);
            atomic_fetch_sub(&team.door, 1);
        }
    }
    return NULL;
}

static void team_after_fork(void) {
    /* only the forking thread lives on: forget the workers, they stayed with the parent */
    team.workers = 0;
    atomic_store(&team.busy, 0);
    atomic_store(&team.door, 0);
    team_is_worker = 0;
}

static void team_prepare(void) {
    if (!team.prepared) {
        team.prepared = 1;
        pthread_atfork(NULL, NULL, team_after_fork);
        if (!team.wanted) {
            cpu_set_t set;
            team.wanted = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
            if (team.wanted > TEAM_MAX) team.wanted = TEAM_MAX;
        }
    }
    while (team.workers < team.wanted - 1) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        uintptr_t seen = atomic_load(&team.generation) | (uintptr_t)team.workers << 32;
        int error = pthread_create(&thread, &attributes, team_worker, (void *)seen);
        pthread_attr_destroy(&attributes);
        if (error) {
            team.wanted = team.workers + 1; /* no more threads to be had: work with these */
            break;
        }
        team.workers++;
    }
}

static int team_size(void) {
    if (!team.wanted) {
        cpu_set_t set;
        team.wanted = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
        if (team.wanted > TEAM_MAX) team.wanted = TEAM_MAX;
    }
    return team.wanted;
}

static void team_resize(int size) {
    team.wanted = size < 1 ? 1 : size > TEAM_MAX ? TEAM_MAX : size;
}

/* Run one launch; returns 0, or -1 when scratch memory could not be had. */
static int team_launch(kernel_fn kernel, void **buffers, int count, const int64_t *params, int64_t range, int64_t grain,
                       int64_t scratch) {
    if (range <= 0) return 0;
    if (grain < 1) grain = 1;
    int threads = team_size();
    int expected = 0;
    int alone = threads == 1 || range < 2 * grain || team_is_worker ||
                !atomic_compare_exchange_strong(&team.busy, &expected, 1);
    if (alone) {
        if (scratch) {
            buffers[count] = team_scratch_of(scratch);
            if (!buffers[count]) return -1;
        }
        kernel(buffers, params, 0, range);
        return 0;
    }
    team_prepare();
    threads = team.wanted;
    /* a few pieces per thread even out a noisy machine; grain keeps each worth its start */
    int64_t piece = range / (threads * 4);
    if (piece < grain) piece = grain;
    team.job = (team_job){kernel, buffers, params, range, piece, scratch, threads - 1, count};
    atomic_store(&team.failed, 0);
    atomic_store(&team.next, 0);
    uint32_t generation = atomic_load(&team.generation) + 1;
    atomic_store(&team.door, (uint64_t)generation << 32 | OPEN);
    atomic_store(&team.generation, generation);
    syscall(SYS_futex, &team.generation, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    team_is_worker = 1; /* a nested launch from this thread runs inline */
    team_work(&team.job);
    team_is_worker = 0;
    /* every piece is taken: close the door and wait only for those inside */
    atomic_fetch_and(&team.door, ~(uint64_t)OPEN);
    for (int i = 0; atomic_load_explicit(&team.door, memory_order_acquire) & (OPEN - 1); i++) {
        team_pause();
        if ((i & 1023) == 1023) sched_yield();
    }
    int failed = atomic_load(&team.failed);
    atomic_store(&team.busy, 0);
    return failed ? -1 : 0;
}

#endif
