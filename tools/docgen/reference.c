/* reference TEMPLATE: copies the file to standard output, with each @NAME@ replaced by the section
 * of that name. */
#include "tools/docgen/reference.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct section *const section_lists[] = {page_sections, shell_sections, fish_sections};

static const struct section *find_section(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof(section_lists) / sizeof(section_lists[0]); i++)
        for (const struct section *s = section_lists[i]; s->name; s++)
            if (strlen(s->name) == size && !strncmp(s->name, name, size))
                return s;
    return NULL;
}

/* Copies @line, and returns whether it names nothing but sections that there are. */
static bool copy_line(const char *line, FILE *out)
{
    const char *at;

    while ((at = strchr(line, '@'))) {
        const size_t size = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz-");
        const struct section *s;

        (void)fwrite(line, 1, (size_t)(at - line), out);
        line = at + 1;
        if (!size || line[size] != '@') {
            (void)fputc('@', out);
            continue;
        }
        s = find_section(line, size);
        if (!s) {
            fprintf(stderr, "reference: no section '%.*s'\n", (int)size, line);
            return false;
        }
        s->write(out);
        line += size + 1;
    }
    (void)fputs(line, out);
    return true;
}

int main(int argc, char **argv)
{
    FILE *template = argc == 2 ? fopen(argv[1], "re") : NULL;
    char line[1024];
    bool good = true;

    if (!template) {
        fprintf(stderr, "reference: %s\n",
                argc == 2 ? strerror(errno) : "usage: reference TEMPLATE");
        return EXIT_FAILURE;
    }
    while (good && fgets(line, sizeof(line), template))
        good = copy_line(line, stdout);
    good = good && !ferror(template) && !ferror(stdout) && fflush(stdout) == 0;
    (void)fclose(template);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
