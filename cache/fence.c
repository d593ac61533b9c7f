/*
 * fence: the rules that change more than one field; the others stand in the header.
 */
#include "cache/fence.h"

#include <assert.h>

void fence_end(struct fence *fence, cache_stamp stamp, uint64_t ended)
{
    assert(fence->inflight > 0);
    fence->inflight--;
    fence_raise(fence, stamp);
    if (fence->ended < ended)
        fence->ended = ended;
}

void fence_show(struct fence *fence, cache_stamp sent, cache_stamp received, uint64_t state)
{
    if (fence->shown == 0 || fence->shown <= sent) {
        fence->shown = received;
        fence->state = state;
    } else if (fence->state == state) {
        if (fence->shown < received)
            fence->shown = received;
    } else {
        fence_raise(fence, fence->shown > received ? fence->shown : received);
        fence->shown = 0;
    }
}
