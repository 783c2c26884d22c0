/* A ring buffer of bytes. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define RING_NEXT(ring, at) \
    (((at) + 1) \
     % (ring)->size \
    )

struct ring {
    size_t size, head, tail;
    unsigned char *bytes;
};

int ring_empty(const struct ring *ring);

#ifdef RING_ALLOCATES
/* Returns NULL when there is no memory. */
static struct ring *
ring_new(size_t size)
{
    struct ring *ring = malloc(sizeof *ring);
    return ring;
}
#else
static void ring_reset(struct ring *ring) { ring->head = ring->tail = 0; }
#endif

typedef enum {
    RING_OK,
    RING_FULL,
} ring_status;
