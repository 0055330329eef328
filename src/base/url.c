#include "base/url.h"

#include <stdio.h>
#include <string.h>

#define MARK "://"
#define SECRET "***"

bool is_url(const char *name)
{
    const size_t n =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

    return n && !strncmp(name + n, MARK, strlen(MARK));
}

const char *url_public(const char *text, char *ret, size_t size)
{
    const char *mark = strstr(text, MARK);
    const char *at, *place;
    int n;

    if (!mark) {
        (void)snprintf(ret, size, "%s", text);
        return ret;
    }
    /* The last '@': passwords have all kinds of characters in them. */
    place = mark + strlen(MARK);
    at = strrchr(place, '@');
    n = (int)(place - text);
    place = at ? at + 1 : place;
    /* Some cameras take the password as a part of the path. */
    (void)snprintf(ret, size, "%.*s%s%.*s%s", n, text, at ? SECRET "@" : "",
                   (int)strcspn(place, "?#;&="), place,
                   place[strcspn(place, "?#;&=")] ? SECRET : "");
    return ret;
}

void url_hide(char *text)
{
    const size_t size = strlen(text) + 1;
    char shown[4096];

    if (!strstr(text, MARK))
        return;
    (void)url_public(text, shown, size < sizeof(shown) ? size : sizeof(shown));
    memset(text, 0, size);
    memcpy(text, shown, strlen(shown));
}
