#pragma once
/* Starting named threads. They block all signals, so that these arrive in main. */
#include <pthread.h>

/* @name is at most 15 characters. -EAGAIN or another negative errno on failure. */
int thread_start(pthread_t *ret, const char *name, void *(*fn)(void *), void *arg);

/* A condition variable whose timed waits are in CLOCK_MONOTONIC time. */
int condition_init(pthread_cond_t *cond);

/* Processors that this thread may run on, at least 1. */
int online_cpus(void);
