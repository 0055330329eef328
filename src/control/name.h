#pragma once
/* What the daemon is called on the user's bus; shared with bilatcamctl. */
#include <stddef.h>

#define CONTROL_NAME "org.bilatcam.Bilatcam1" /* of the service and of the interface */
#define CONTROL_PATH "/org/bilatcam/Bilatcam1"

#define CONTROL_NAME_MAX 128

/* The service's name for an instance, "" being the only one. -EINVAL: not such an instance. */
#define CONTROL_INSTANCE_RULE "must be letters, digits and underscores, at most 64"
int control_service_name(const char *instance, char name[CONTROL_NAME_MAX]);

/* "sigma-color" to "SigmaColor" and back. What does not fit is cut. */
void control_property_name(const char *key, char *property, size_t size);
void control_key_name(const char *property, char *key, size_t size);
