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
