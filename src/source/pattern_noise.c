#include "source/pattern_noise.h"

/* 0.7 and 0.6 / 255, times 25075: the largest that fits with the brightest value. */
#define DARK 17553
#define PER_LEVEL 59

static uint64_t mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The sum of four random bytes is near enough to Gaussian; its sigma is 147.8. The field is in
 * units such that times 25075 / 65536 it is in 64ths of a level: 65536 / 25075 * 64 / 147.8. */
void pattern_noise_init(struct pattern_noise *p, int level, uint32_t seed)
{
    for (uint32_t i = 0; i < sizeof(p->field) / sizeof(p->field[0]); i++) {
        const uint64_t h = mix64(~((uint64_t)seed << 32 | i));
        const uint32_t pairs = (h & 0x00FF00FFu) + (h >> 8 & 0x00FF00FFu);
        const int sum = (int)((pairs & 0xFFFF) + (pairs >> 16)) - 510;

        p->field[i] = (int16_t)(sum * level * 1132 / 1000);
    }
}

/* All in 16 bits, so that compilers make vector code of it on every machine. */
static void add(uint8_t *restrict v, const int16_t *restrict noise, int n, int sign)
{
    const int16_t dark = (int16_t)(sign * DARK), per_level = (int16_t)(sign * PER_LEVEL);

    for (int x = 0; x < n; x++) {
        const int16_t gain = (int16_t)(dark + per_level * v[x]);
        const int16_t t = (int16_t)((noise[x] * gain) >> 16);
        const int16_t value = (int16_t)((int16_t)(v[x] * 64 + t + 32) >> 6);

        v[x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

void pattern_noise_add(const struct pattern_noise *p, uint64_t seq, int x, int y, int component,
                       uint8_t *v, int n)
{
    const uint64_t row = (uint64_t)y * 3 + (uint64_t)component;
    const uint64_t place = row << 8 | (uint64_t)x / NOISE_RUN;
    const uint64_t h = mix64(mix64(~seq) + place * 0x9E3779B97F4A7C15u);

    add(v, p->field + (h & 0xFFFF), n, h >> 63 ? -1 : 1);
}
