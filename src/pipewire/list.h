#pragma once
/* The cameras of PipeWire for people to see. */
#include <stdio.h>

/* Prints those that are neither made by this program nor a device of Video4Linux that is here, and
 * other sources of pictures, such as screens. Returns how many cameras there are. Prints nothing
 * where PipeWire does not run. Context: any thread; takes as long as the daemon needs to answer, at
 * most twice as long as pipewire_round_trip. */
int pipewire_list(FILE *out);
