#include "control/name.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define INSTANCE_MAX 64

int control_service_name(const char *instance, char name[CONTROL_NAME_MAX])
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t n = strlen(instance);

    if (n > INSTANCE_MAX || strspn(instance, allowed) != n)
        return -EINVAL;
    /* No part of a bus name may begin with a digit. */
    (void)snprintf(name, CONTROL_NAME_MAX, "%s%s%s%s", CONTROL_NAME, n ? "." : "",
                   isdigit((unsigned char)*instance) ? "_" : "", instance);
    return 0;
}

void control_property_name(const char *key, char *property, size_t size)
{
    bool begins = true;
    size_t n = 0;

    for (; *key && n + 1 < size; key++) {
        if (*key != '-')
            property[n++] = (char)(begins ? toupper((unsigned char)*key) : *key);
        begins = *key == '-';
    }
    property[n] = '\0';
}

void control_key_name(const char *property, char *key, size_t size)
{
    size_t n = 0;

    for (; *property && n + 2 < size; property++) {
        if (isupper((unsigned char)*property) && n)
            key[n++] = '-';
        key[n++] = (char)tolower((unsigned char)*property);
    }
    key[n] = '\0';
}
