#include "xdr/cursor.h"

#include <assert.h>

void cursor_skip_array(struct cursor *c, uint32_t count, uint32_t size)
{
    assert(size > 0 && size % 4 == 0);
    /* Divided, not multiplied: the product could wrap. */
    if (count > cursor_left(c) / size) {
        cursor_fail(c);
        return;
    }
    cursor_take(c, count * size);
}
