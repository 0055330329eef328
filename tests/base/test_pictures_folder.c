/* Where snapshots go: by the environment, by the file of xdg-user-dirs, or by custom. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pictures_folder.h"

/* A home with the folders Pictures, Bilder and Café "1"; the current folder is another one. */
static char home[] = "/tmp/bilatcam-home-XXXXXX";
static char here[PATH_MAX];

static void write_dirs(const char *config, const char *text)
{
    char path[PATH_MAX];
    FILE *out;

    (void)snprintf(path, sizeof(path), "%s/%s", home, config);
    (void)mkdir(path, 0700);
    (void)strcat(path, "/user-dirs.dirs");
    (void)unlink(path);
    if (!text)
        return;
    out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

/* @wanted: absolute, or below the home folder; "." is the current one. */
static void expect_folder(const char *wanted, const char *what)
{
    char folder[PATH_MAX], full[PATH_MAX + 32];

    if (!strcmp(wanted, "."))
        (void)snprintf(full, sizeof(full), "%s", here);
    else
        (void)snprintf(full, sizeof(full), "%s%s%s", *wanted == '/' ? "" : home,
                       *wanted && *wanted != '/' ? "/" : "", wanted);
    pictures_folder(folder, sizeof(folder));
    if (strcmp(folder, full) != 0)
        fail_msg("%s: '%s', not '%s'", what, folder, full);
}

static void test_user_dirs(void **state)
{
    static const struct {
        const char *text, *folder;
    } cases[] = {
        {NULL, "Pictures"},
        {"", "Pictures"},
        {"XDG_PICTURES_DIR=\"$HOME/Bilder\"\n", "Bilder"},
        {"XDG_PICTURES_DIR=\"$HOME/Bilder\"", "Bilder"},
        {"# comment\nXDG_DESKTOP_DIR=\"$HOME/Desktop\"\nXDG_PICTURES_DIR=\"$HOME/Bilder/\"\n",
         "Bilder"},
        {" \tXDG_PICTURES_DIR \t=  \"$HOME/Bilder\" # why\n", "Bilder"},
        {"XDG_PICTURES_DIR=\"$HOME/Caf\u00e9 \\\"1\\\"\"\n", "Caf\u00e9 \"1\""},
        {"XDG_PICTURES_DIR=\"/nowhere/at\\\\all\"\n", "/nowhere/at\\all"},
        {"XDG_PICTURES_DIR=\"/\"\n", "/"},
        {"XDG_PICTURES_DIR=\"$HOME/Missing\"\n", "Missing"}, /* an error, later, that names it */
        {"XDG_PICTURES_DIR=\"$HOME/\"\n", ""},               /* "disabled": the home folder */
        {"XDG_PICTURES_DIR=\"$HOME\"\n", ""},
        {"XDG_PICTURES_DIR=\"/x\"\nXDG_PICTURES_DIR=\"$HOME/Bilder\"\n", "Bilder"},
        /* What the format does not allow is passed over. */
        {"XDG_PICTURES_DIR=\"$HOME/Bilder\"\nXDG_PICTURES_DIR=\"Elsewhere\"\n", "Bilder"},
        {"XDG_PICTURES_DIR=Bilder\n", "Pictures"},
        {"XDG_PICTURES_DIR=\"$HOMES/Bilder\"\n", "Pictures"},
        {"XDG_PICTURES_DIR=\"$HOME/Bil\ntwo\n", "Pictures"},
        {"XDG_PICTURES_DIR\n=\"$HOME/Bilder\"\n", "Pictures"},
        {"#XDG_PICTURES_DIR=\"$HOME/Bilder\"\n", "Pictures"},
        {"XDG_PICTURES_DIRS=\"$HOME/Bilder\"\n", "Pictures"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_dirs(".config", cases[i].text);
        expect_folder(cases[i].folder, cases[i].text ? cases[i].text : "no file");
    }
    write_dirs(".config", NULL);
}

/* A pipe that nobody writes to must not be waited for. */
static void test_pipe(void **state)
{
    char path[PATH_MAX];

    (void)state;
    write_dirs(".config", NULL);
    (void)snprintf(path, sizeof(path), "%s/.config/user-dirs.dirs", home);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)alarm(10);
    expect_folder("Pictures", "a pipe");
    (void)alarm(0);
    assert_int_equal(unlink(path), 0);
}

static void test_other_config_folder(void **state)
{
    char config[64];

    (void)state;
    write_dirs(".config", "XDG_PICTURES_DIR=\"/default\"\n");
    write_dirs("config", "XDG_PICTURES_DIR=\"$HOME/Bilder\"\n");
    (void)snprintf(config, sizeof(config), "%s/config", home);
    assert_int_equal(setenv("XDG_CONFIG_HOME", config, 1), 0);
    expect_folder("Bilder", "XDG_CONFIG_HOME");
    write_dirs("config", NULL);
    expect_folder("Pictures", "XDG_CONFIG_HOME without the file");
    assert_int_equal(setenv("XDG_CONFIG_HOME", "relative", 1), 0);
    expect_folder("/default", "a relative XDG_CONFIG_HOME, which does not count");
    assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
    write_dirs(".config", NULL);
    (void)rmdir(config);
}

static void test_environment(void **state)
{
    (void)state;
    write_dirs(".config", "XDG_PICTURES_DIR=\"$HOME/Bilder\"\n");
    assert_int_equal(setenv("XDG_PICTURES_DIR", "/elsewhere", 1), 0);
    expect_folder("/elsewhere", "XDG_PICTURES_DIR");
    assert_int_equal(setenv("XDG_PICTURES_DIR", ".", 1), 0);
    expect_folder(".", "XDG_PICTURES_DIR is relative");
    assert_int_equal(setenv("XDG_PICTURES_DIR", "", 1), 0);
    expect_folder("Bilder", "XDG_PICTURES_DIR is empty");
    assert_int_equal(unsetenv("XDG_PICTURES_DIR"), 0);
    write_dirs(".config", NULL);
}

static void test_no_pictures_folder(void **state)
{
    char path[64], other[64], folder[16] = "";

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/Pictures", home);
    (void)snprintf(other, sizeof(other), "%s/moved", home);
    assert_int_equal(rename(path, other), 0);
    expect_folder(".", "no Pictures");
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(unsetenv("HOME"), 0);
    expect_folder(".", "no HOME");
    assert_int_equal(setenv("HOME", home, 1), 0);
    write_dirs(".config", "XDG_PICTURES_DIR=\"$HOME\"\n");
    pictures_folder(folder, sizeof(folder)); /* stays within what it is given */
    assert_true(strlen(folder) < sizeof(folder));
    write_dirs(".config", NULL);
}

static const char *const folders[] = {"Pictures", "Bilder", "Caf\u00e9 \"1\"", ".config", "here"};

static int make_home(void **state)
{
    char path[PATH_MAX];

    (void)state;
    if (!mkdtemp(home) || chdir(home) || setenv("HOME", home, 1))
        return -1;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (mkdir(folders[i], 0700))
            return -1;
    if (chdir("here") || !getcwd(path, sizeof(path)))
        return -1;
    (void)snprintf(here, sizeof(here), "%s", path);
    return unsetenv("XDG_PICTURES_DIR") || unsetenv("XDG_CONFIG_HOME");
}

static int remove_home(void **state)
{
    (void)state;
    if (chdir(home))
        return -1;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        (void)rmdir(folders[i]);
    return rmdir(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_dirs),           cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_other_config_folder), cmocka_unit_test(test_environment),
        cmocka_unit_test(test_no_pictures_folder),
    };

    return cmocka_run_group_tests_name("pictures-folder", tests, make_home, remove_home);
}
