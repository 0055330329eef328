#pragma once
/* --doctor: looks at what it takes to get from a camera to the virtual camera, and tells in plain
 * words what is there, what is not, and the command that fixes it. It changes nothing, needs no
 * rights, waits for nothing but seconds for what does not answer, and starts no camera.
 * Context: main. */
#include <stdbool.h>
#include <stdio.h>

#include "doctor/system.h"

/* Prints one line per finding, `ok`, `note` or `PROBLEM` in front, with what to do about it in the
 * line below. @config_path: as given, or NULL for the user's own. @program: as it was called.
 * Returns whether a camera can go to a virtual camera. */
bool doctor_run(const struct doctor_system *s, const char *config_path, const char *program,
                FILE *out);

/* For whoever starts bilatcam for the first time: prints in three lines what it does, what of a
 * camera and a virtual camera is missing that are needed, and the command for it. False, and
 * nothing is printed: neither is missing. */
bool doctor_introduce(const struct doctor_system *s, bool needs_camera, bool needs_loopback,
                      const char *program, FILE *out);
