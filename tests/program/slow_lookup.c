/* Loaded before a program, makes it wait for the addresses of hosts, as in a network that lost its
 * name server. */
#include <netdb.h>
#include <stdio.h>
#include <unistd.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **res)
{
    (void)service;
    (void)hints;
    (void)res;
    (void)fprintf(stderr, "looking up %s\n", node);
    for (;;)
        (void)pause();
}
