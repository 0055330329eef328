/* Recordings that were joined, packet by packet. */
#include "tests/lib/unit.h"

#include <stdlib.h>

#include "video/timeline.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)
#define PICTURE_NS (40 * MS)
#define SOUND_NS (20 * MS)

enum { PICTURES, SOUND, WORDS };

static struct timeline line;

static int make_line(void **state)
{
    (void)state;
    line = (struct timeline){.on_ns = 10 * S};
    return 0;
}

static int finish_line(void **state)
{
    (void)state;
    timeline_finish(&line);
    return 0;
}

/* When a packet that says @t_ns is shown. */
static int64_t shown_at(unsigned stream, int64_t t_ns)
{
    const struct timeline_packet p = {.stream = stream,
                                      .steady = stream != WORDS,
                                      .leads = stream == PICTURES,
                                      .t_ns = t_ns,
                                      .long_ns = stream == PICTURES ? PICTURE_NS : SOUND_NS};
    int64_t shift_ns;

    assert_int_equal(timeline_follow(&line, &p, &shift_ns), 0);
    return t_ns + shift_ns;
}

/* All packets of [@from_ns, @to_ns) as a file has them: @stream's alone, or those of both, sound
 * before its picture. They have to come out @shift_ns later. */
static void play(int stream, int64_t from_ns, int64_t to_ns, int64_t shift_ns)
{
    for (int64_t t = from_ns; t < to_ns; t += SOUND_NS) {
        if (stream != PICTURES)
            assert_int_equal(shown_at(SOUND, t), t + shift_ns);
        if (stream != SOUND && (t - from_ns) % PICTURE_NS == 0)
            assert_int_equal(shown_at(PICTURES, t), t + shift_ns);
    }
}

#define BOTH (-1)

static void test_one_recording(void **state)
{
    (void)state;
    play(BOTH, 0, 2 * S, 0);
    /* A pause of both, as long as one may be, and one of each while the other goes on. */
    play(BOTH, 12 * S - PICTURE_NS, 13 * S, 0);
    play(PICTURES, 13 * S, 60 * S, 0);
    play(BOTH, 60 * S, 61 * S, 0);
    play(SOUND, 61 * S, 100 * S, 0);
    play(BOTH, 100 * S, 101 * S, 0);
    assert_int_equal(line.cut_ns, 0);
}

/* Also over and over, and to where an earlier one was. */
static void test_joined(void **state)
{
    static const int64_t starts_s[] = {36000, 0, 80000, 40000, 0, 14, 36000};
    int64_t end_ns = 2 * S;

    (void)state;
    play(BOTH, 0, 2 * S, 0);
    for (size_t i = 0; i < sizeof(starts_s) / sizeof(starts_s[0]); i++) {
        const int64_t start_ns = starts_s[i] * S;

        play(BOTH, start_ns, start_ns + 3 * S, end_ns - start_ns);
        end_ns += 3 * S;
    }
    assert_int_equal(line.cut_ns, 36000 * S - 2 * S + SOUND_NS);
    assert_int_equal(line.t_cut_ns, 2 * S);
}

/* Streams seldom change in the same place, nor begin and end together; sound goes by the pictures.
 */
static void test_skew(void **state)
{
    const int64_t shift_ns = 2 * S - 36000 * S;

    (void)state;
    play(BOTH, 0, 2 * S, 0);
    assert_int_equal(shown_at(PICTURES, 36000 * S), 2 * S);
    play(SOUND, 2 * S, 2 * S + 200 * MS, 0); /* still of the first one */
    assert_int_equal(shown_at(SOUND, 36000 * S - 60 * MS), 2 * S - 60 * MS);
    play(BOTH, 36000 * S + PICTURE_NS, 36001 * S, shift_ns);
    /* Sound that comes first is where it ends until the pictures are there. */
    assert_int_equal(shown_at(SOUND, 5 * S), 3 * S);
    assert_int_equal(shown_at(PICTURES, 36001 * S), 3 * S);
    assert_int_equal(shown_at(PICTURES, 5 * S + 100 * MS), 3 * S + PICTURE_NS);
    assert_int_equal(shown_at(SOUND, 5 * S + 100 * MS), 3 * S + PICTURE_NS);
}

static void test_odd_streams(void **state)
{
    (void)state;
    play(BOTH, 0, 2 * S, 0);
    assert_int_equal(shown_at(WORDS, 100 * S), 100 * S); /* such are too few to tell */
    play(PICTURES, 36000 * S, 36030 * S, 2 * S - 36000 * S);
    assert_int_equal(shown_at(WORDS, 36030 * S), 32 * S);
    /* Sound that is back only then. */
    assert_int_equal(shown_at(SOUND, 36030 * S), 32 * S);
    /* One time that is wrong costs nothing else its place. */
    assert_int_equal(shown_at(SOUND, 70000 * S), 32 * S + SOUND_NS);
    assert_int_equal(shown_at(SOUND, 36030 * S + 2 * SOUND_NS), 32 * S + 2 * SOUND_NS);
    assert_int_equal(shown_at(PICTURES, 36030 * S), 32 * S);
    assert_int_equal(shown_at(PICTURES, 50 * S), 32 * S + PICTURE_NS);
    assert_int_equal(shown_at(SOUND, 50 * S), 32 * S + PICTURE_NS);
    assert_int_equal(line.cut_ns, 36000 * S - 2 * S + PICTURE_NS);
}

/* Nothing is added up beyond what fits. */
static void test_wild_times(void **state)
{
    const struct timeline_packet none = {.steady = true, .t_ns = TIMELINE_NO_TIME};
    int64_t shift_ns;

    (void)state;
    assert_int_equal(timeline_follow(&line, &none, &shift_ns), 0);
    assert_int_equal(shift_ns, 0);
    for (int i = 0; i < 1000; i++) {
        const struct timeline_packet p = {.stream = (unsigned)i % 3,
                                          .steady = true,
                                          .t_ns = i % 2 ? INT64_MAX : INT64_MIN + 1,
                                          .long_ns = INT64_MAX};

        assert_int_equal(timeline_follow(&line, &p, &shift_ns), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_recording, make_line, finish_line),
        cmocka_unit_test_setup_teardown(test_joined, make_line, finish_line),
        cmocka_unit_test_setup_teardown(test_skew, make_line, finish_line),
        cmocka_unit_test_setup_teardown(test_odd_streams, make_line, finish_line),
        cmocka_unit_test_setup_teardown(test_wild_times, make_line, finish_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
