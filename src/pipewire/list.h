#pragma once
/* The cameras of PipeWire for people to see. */
#include <stdio.h>

/* Prints those that are neither made by this program nor a device of Video4Linux, and returns how
 * many. Prints nothing where PipeWire does not run. Context: any thread; takes as long as the
 * daemon needs to answer, at most as pipewire_round_trip. */
int pipewire_list(FILE *out);
