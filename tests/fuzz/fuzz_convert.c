/* Pictures of any raw formats, colours, sizes and strides, converted and fitted into each other.
 * Bytes: what to do, two formats, two colours, two sizes, bytes between rows of both, a seed. */
#include "tests/fuzz/fuzz.h"

#include "picture/colour.h"
#include "picture/convert.h"
#include "picture/scale.h"

static struct frame choose(struct input *in)
{
    const uint8_t colour = input_u8(in);

    const enum frame_format format = (enum frame_format)(input_u8(in) % FRAME_MJPG);
    const struct colour c = {colour & 4   ? COLOUR_RGB
                             : colour & 8 ? COLOUR_BT2020
                             : colour & 1 ? COLOUR_BT709
                                          : COLOUR_BT601,
                             colour & 2 ? COLOUR_FULL : COLOUR_LIMITED};

    return (struct frame){
        .format = format,
        .colour = colour_in(format, c),
        .width = 2 + 2 * input_u8(in),
        .height = 1 + input_u8(in),
    };
}

static bool same_samples(const struct frame *a, const struct frame *b)
{
    return frame_squared_error(a, b) <= 0.0;
}

static void convert(struct frame *dst, const struct frame *src)
{
    convert_frame(dst, src);
    if (dst->format == src->format && dst->colour.matrix == src->colour.matrix &&
        dst->colour.range == src->colour.range)
        must(same_samples(dst, src), "samples that need no change are copied exactly");
}

static void fit(struct frame *dst, const struct frame *src)
{
    struct scaler *s;

    must(!scaler_create(&s, dst, src), "memory for a scaler");
    must(scaler_suits(s, src), "a scaler suits what it was made for");
    scaler_run(s, dst, src);
    if (dst->format == src->format && dst->width == src->width && dst->height == src->height)
        must(same_samples(dst, src), "a picture that fits already is copied");
    scaler_destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    const bool fitted = input_u8(&in) & 1;
    struct frame src = choose(&in), dst = choose(&in);

    if (!fitted) {
        dst.width = src.width;
        dst.height = src.height;
    }
    picture_alloc(&src, input_u8(&in), input_u8(&in));
    picture_alloc(&dst, input_u8(&in), 0);
    (fitted ? fit : convert)(&dst, &src);
    picture_check_padding(&dst);
    picture_touch(&dst);
    picture_free(&src);
    picture_free(&dst);
    return 0;
}
