#pragma once
/* The cameras of PipeWire for people to see. */
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Prints those that are neither made by this program nor a device of Video4Linux that is here, and
 * other sources of pictures, such as screens. Returns how many cameras there are, and sets
 * @has_sensor where one of them is made of the @n_sensors devices @sensor. Prints nothing where
 * PipeWire does not run. Context: any thread; takes as long as the daemon needs to answer, at most
 * twice as long as pipewire_round_trip. */
int pipewire_list(FILE *out, const dev_t *sensor, int n_sensors, bool *has_sensor);
