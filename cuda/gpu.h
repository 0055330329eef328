#pragma once
/* The GPUs of this machine, and which of them an engine takes. Context: any thread. */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define GPUS_MAX 32

struct gpu {
    char name[100];
    char bus[20];  /* PCI bus ID: "0000:0a:00.0" */
    uint64_t free; /* bytes of memory that nobody has taken; 0 = not known */
};

/* Those that CUDA sees, in its order, GPUS_MAX at most. Returns how many, or -ENODEV: there is
 * none, or no driver for them. */
int gpu_list(struct gpu *ret, struct error *err);

/* The number of the one that @wanted names: a number, a PCI bus ID, or "", which takes
 * the one with the most free memory and the first of equals. -ENODEV: it names none. */
int gpu_choose(const struct gpu *gpus, int n, const char *wanted, struct error *err);

/* Bytes of the memory of the GPU with PCI bus ID @bus that this process has, with what CUDA and the
 * driver need for themselves, as nvidia-smi tells; 0 = the driver does not tell. Takes 22 ms
 * (2026-11, NVIDIA H200). */
uint64_t gpu_own_memory(const char *bus);

/* Several bilatcams that start at once must not all take the same GPU because none of them has
 * taken memory yet. A descriptor: until it is closed the others wait here, five seconds at most.
 * -1: the five seconds are over, or the program's file cannot be read. */
int gpu_lock(void);
