#pragma once
/* What a film says of its pictures that no filter needs. It goes from the film that is read to the
 * one that is written. */
#include "picture/frame.h"

struct film_tags {
    int width;                                      /* before a turn; 0: there is no film */
    int primaries, transfer, matrix, range, siting; /* in libav's numbers */
    struct fraction aspect;                         /* of a sample; 0/0: it does not say */
};
