/* Addresses on the PCI bus, as people write them. */
#include "tests/lib/unit.h"

#include "base/pci.h"

static void test_addresses(void **state)
{
    static const struct {
        const char *text;
        struct pci_address expected;
    } rows[] = {
        {"0000:0a:00.0", {0, 10, 0, 0}}, {"0000:0A:1f.7", {0, 10, 31, 7}},
        {"0a:00", {0, 10, 0, 0}},        {"18:00.1", {0, 24, 0, 1}},
        {"1:18:0", {1, 24, 0, 0}},       {"00000001:18:00.0", {1, 24, 0, 0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pci_address got;

        assert_true(pci_parse(&got, rows[i].text));
        assert_true(pci_same(&got, &rows[i].expected));
    }
}

static void test_others(void **state)
{
    static const char *const texts[] = {
        "",       "0",     ":",       "1:",   ":1",       "1:2:",           "1:2:3:4", "1:2.8",
        "1:2.",   "1:2.x", "1:2.0.0", "1: 2", "0x1:2",    "-1:2",           "1:2 ",    "cpu",
        "1:2:.0", "1.0",   "1:2.0:3", "a:g",  "1:2:3.10", "000000001:2:3.0"};
    struct pci_address got;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (pci_parse(&got, texts[i]))
            fail_msg("'%s' was taken", texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_others),
    };

    return cmocka_run_group_tests_name("pci", tests, NULL, NULL);
}
