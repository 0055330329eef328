#pragma once
/* A tile of a plane on its way from memory into a block's shared memory, for blur.cu. Bytes come as
 * they are; outside of the picture the nearest sample stands.
 *
 * DESIGN. All blocks of a small picture run at once, so that memory would idle while they all
 * multiply. So a tile comes in stages from left to right, and the first is filtered while the
 * others are on their way. A thread moves its pieces of all stages, and waits for them one by one.
 */
#include "cuda/kernel/blur_params.h"

#define WARP 32
#define ROWS 16 /* of a warp */
#define WARPS 4 /* of a block, one above the other */
#define THREADS (WARPS * WARP)
#define PIECE 16                /* bytes that are moved at once */
#define STAGE_BYTES (8 * PIECE) /* of a row */

/* A block's shared memory. @PACKED: Y, U and V are in one plane, whose rows are long. */
template <int STEPS, bool PACKED> struct alignas(16) block_memory {
    static constexpr int steps = STEPS;
    static constexpr bool packed = PACKED;
    /* Of a row, to filter. With more than 192 the most steps would not fit into 48 KiB. */
    static constexpr int bytes = STEPS == 5 || (STEPS == 4 && !PACKED) ? 192 : PACKED ? 256 : 128;
    static constexpr int margin = PIECE * (PACKED ? STEPS - 1 : STEPS / 2);
    static constexpr int width = bytes + 2 * margin;
    static constexpr int rows = ROWS * (WARPS + STEPS - 1);
    static constexpr int stride = width + PIECE; /* eight rows lie in different banks */
    static constexpr int stages = (width + STAGE_BYTES - 1) / STAGE_BYTES;
    static constexpr bool scarce = STEPS > 3 && !PACKED; /* registers, for what products need */

    uint8_t tile[rows][stride];
    uint32_t table[BLUR_AXES][32 * STEPS];
    float centre[BLUR_AXES];

    /* Weights on @axis from the middle on. */
    __device__ __forceinline__ const uint32_t *weights(int axis) const
    {
        return table[axis] + 16 * STEPS;
    }
};

/* Outside of the picture: what the nearest 16 bytes of a row have for those from @at on. */
static __device__ __forceinline__ void repeat_edge(const blur_plane &q, uint32_t word[4], int at)
{
    const int last = (q.bytes - 1) / 4 - at / 4; /* word that has the last sample */
    uint32_t edge = __byte_perm(word[0], 0, q.before);

    if (at >= 0) {
        const int k = (q.bytes - 1) / 4 % 4;
        const uint32_t w = k & 2 ? k & 1 ? word[3] : word[2] : k & 1 ? word[1] : word[0];

        edge = __byte_perm(w, 0, q.behind);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        word[i] = at < 0 || i > last ? edge
                  : i == last        ? __byte_perm(word[i], 0, q.last_word)
                                     : word[i];
}

/* Moves a piece into the tile; it is there after wait_for_stages(). */
static __device__ __forceinline__ void move_piece(uint8_t *to, const uint8_t *from)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
    *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from);
#else
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(uint32_t(__cvta_generic_to_shared(to))),
        "l"(from)
        : "memory");
#endif
}

static __device__ __forceinline__ void end_stage()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Until what this thread moved is there, but for the last @n stages. */
static __device__ __forceinline__ void wait_for_stages(int n)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (n == 0)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    else if (n == 1)
        asm volatile("cp.async.wait_group 1;" ::: "memory");
    else
        asm volatile("cp.async.wait_group 2;" ::: "memory");
#endif
}

/* A thread's pieces of a stage: those in one column of the tile, of every @step rows one. */
struct pieces {
    int column, row, step;

    __device__ __forceinline__ pieces(int width, int stage)
    {
        const int left = (width - stage * STAGE_BYTES) / PIECE;
        const int n = left > 4 ? 8 : left > 2 ? 4 : 2;
        const int thread = threadIdx.y * WARP + threadIdx.x;

        column = stage * STAGE_BYTES + thread % n * PIECE;
        row = thread / n;
        step = THREADS / n;
    }
};

/* The part of a plane that a tile has: @x and @y are its first byte and row, maybe outside. */
template <class M> struct tile_source {
    const blur_plane &q;
    int x, y;

    __device__ __forceinline__ int rows() const
    {
        return WARPS * ROWS + 2 * q.reach;
    }
    /* Where a row's last piece is. */
    __device__ __forceinline__ int last() const
    {
        return (q.bytes - 1) & -PIECE;
    }

    __device__ __forceinline__ void move(M &shared) const
    {
#pragma unroll
        for (int stage = 0; stage < M::stages; stage++) {
            const pieces mine(M::width, stage);
            const uint8_t *from = q.in + min(max(x + mine.column, 0), last());

            asm volatile("" : "+l"(from)); /* or it is formed for each piece */
#pragma unroll
            for (int k = 0; k < M::rows && mine.column < M::width; k += mine.step) {
                const int row = mine.row + k, picture_row = min(max(y + row, 0), q.rows - 1);

                if (k + mine.step <= WARPS * ROWS || row < rows())
                    move_piece(&shared.tile[row][mine.column],
                               from + size_t(uint32_t(picture_row)) * q.stride_in);
            }
            end_stage();
        }
    }

    /* At byte @at of the tile's rows: until the stage is there that begins with it. */
    __device__ __forceinline__ void wait(M &shared, int at) const
    {
        const int stage = at / STAGE_BYTES;
        const pieces mine(M::width, stage);

        if (at % STAGE_BYTES)
            return;
        wait_for_stages(M::stages - 1 - stage);
        if (mine.column < M::width && (x + mine.column < 0 || x + mine.column >= last())) {
#pragma unroll 1
            for (int row = mine.row; row < rows(); row += mine.step) {
                uint4 &piece = *reinterpret_cast<uint4 *>(&shared.tile[row][mine.column]);
                uint32_t word[4] = {piece.x, piece.y, piece.z, piece.w};

                repeat_edge(q, word, x + mine.column);
                piece = make_uint4(word[0], word[1], word[2], word[3]);
            }
        }
        __syncthreads();
    }
};
