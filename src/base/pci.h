#pragma once
#include <stdbool.h>

/* Where a device is on the PCI bus. */
struct pci_address {
    unsigned domain, bus, device, function;
};

/* Reads "0000:0a:00.0", in hexadecimal, of which the domain and the function may be left out, as in
 * nvidia-smi and lspci. False: @text is no such address, and nothing is said of @ret. */
bool pci_parse(struct pci_address *ret, const char *text);

static inline bool pci_same(const struct pci_address *a, const struct pci_address *b)
{
    return a->domain == b->domain && a->bus == b->bus && a->device == b->device &&
           a->function == b->function;
}
