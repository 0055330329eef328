#include "base/pci.h"

#include <stdlib.h>
#include <string.h>

#define HEX "0123456789abcdefABCDEF"

/* One number of 1 to 8 digits, and what comes after it in @end. */
static bool read_number(const char *text, const char **end, unsigned *ret)
{
    const size_t n = strspn(text, HEX);

    *ret = (unsigned)strtoul(text, NULL, 16);
    *end = text + n;
    return n > 0 && n <= 8;
}

bool pci_parse(struct pci_address *ret, const char *text)
{
    unsigned part[3];
    int n = 0;

    *ret = (struct pci_address){0};
    do
        if (n == 3 || !read_number(text, &text, &part[n++]))
            return false;
    while (*text++ == ':');
    if (n < 2)
        return false;
    ret->device = part[n - 1];
    ret->bus = part[n - 2];
    ret->domain = n == 3 ? part[0] : 0;
    if (*--text == '.' && (!read_number(text + 1, &text, &ret->function) || ret->function > 7))
        return false;
    return !*text;
}
