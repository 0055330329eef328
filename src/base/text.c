#include "base/text.h"

#include <stddef.h>
#include <string.h>

bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

void list_add(char *text, size_t size, const char *separator, const char *item)
{
    const size_t n = strlen(text);

    if (*item)
        (void)snprintf(text + n, size - n, "%s%s", n ? separator : "", item);
}

/* How many bytes the character at @p takes; 0: it is none. */
static size_t character_length(const unsigned char *p)
{
    size_t n;

    if (p[0] < 0x80)
        return 1;
    /* Overlong forms, surrogates, and what is beyond the last character. */
    if (p[0] < 0xc2 || p[0] > 0xf4 || (p[0] == 0xe0 && p[1] < 0xa0) ||
        (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

char *utf8_repair(char *text)
{
    for (char *p = text; *p;) {
        const size_t n = character_length((const unsigned char *)p);

        if (n)
            p += n;
        else
            *p++ = '?';
    }
    return text;
}

/* C0, DEL, and C1 as UTF-8 has it. */
static bool is_control(const unsigned char *p)
{
    return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

char *utf8_printable(char *text)
{
    for (char *p = utf8_repair(text); *p;) {
        const size_t n = character_length((const unsigned char *)p);

        if (is_control((const unsigned char *)p))
            memset(p, '?', n);
        p += n;
    }
    return text;
}

static void print_string(FILE *out, const char *text, bool json)
{
    const unsigned char *p = (const unsigned char *)text;

    (void)fputc('"', out);
    while (*p) {
        const size_t n = character_length(p);

        if (!n || (!json && is_control(p)))
            (void)fputc('?', out);
        else if (is_control(p))
            (void)fprintf(out, "\\u%04x", p[n - 1]); /* U+0080 to U+009f end in that byte */
        else if (*p == '"' || (json && *p == '\\'))
            (void)fprintf(out, "%c%c", json ? '\\' : '"', *p);
        else
            (void)fwrite(p, 1, n, out);
        p += n ? n : 1;
    }
    (void)fputc('"', out);
}

void json_print_string(FILE *out, const char *text)
{
    print_string(out, text, true);
}

void csv_print_string(FILE *out, const char *text)
{
    print_string(out, text, false);
}
