/*
 * slab: the arena, then lists of pages, then slots. A free slot holds the number of the next free one of its page.
 * slab_alloc returns 0 where no page has room and none can be cut.
 */
#include "cache/slab.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

int arena_map(struct arena *arena, uint32_t shards)
{
    arena->size = ((size_t)shards << arena->shard_bits) * SLAB_GRANULE;
    void *base = mmap(NULL, arena->size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return -ENOMEM;
    arena->base = base;
    return 0;
}

void arena_unmap(struct arena *arena)
{
    if (arena->base)
        munmap(arena->base, arena->size);
    arena->base = NULL;
}

void slab_init(struct slab *slab, const struct arena *arena, uint32_t shard,
               struct slab_page *pages, uint32_t page_max)
{
    memset(slab, 0, sizeof(*slab));
    slab->arena = arena;
    slab->page = pages;
    slab->first = (uint32_t)((uint64_t)shard << arena->shard_bits);
    slab->page_max = page_max;
}

/* ---- lists of pages: those with room of one kind and size, and the free ones ---- */

static void list_push(struct slab *slab, uint32_t *head, uint32_t number)
{
    struct slab_page *page = &slab->page[number];
    page->prev = 0;
    page->next = *head;
    if (*head)
        slab->page[*head].prev = number;
    *head = number;
}

static void list_remove(struct slab *slab, uint32_t *head, uint32_t number)
{
    struct slab_page *page = &slab->page[number];
    if (page->prev)
        slab->page[page->prev].next = page->next;
    else
        *head = page->next;
    if (page->next)
        slab->page[page->next].prev = page->prev;
}

bool slab_may_cut(const struct slab *slab, enum slab_kind kind)
{
    return !slab_belongs(kind) || slab->page_belongs < (slab->page_max + 1) / 2;
}

static uint32_t page_take(struct slab *slab, enum slab_kind kind, unsigned granules)
{
    if (!slab_may_cut(slab, kind))
        return 0;
    uint32_t number = slab->page_free;
    if (number)
        list_remove(slab, &slab->page_free, number);
    else if (slab->page_touched < slab->page_max)
        number = ++slab->page_touched;
    else
        return 0;
    slab->page[number] = (struct slab_page){.kind = (uint8_t)kind, .granules = (uint8_t)granules};
    slab->page_used++;
    slab->page_belongs += slab_belongs(kind);
    list_push(slab, &slab->room[kind][granules], number);
    return number;
}

static void page_give(struct slab *slab, uint32_t number)
{
    struct slab_page *page = &slab->page[number];
    list_remove(slab, &slab->room[page->kind][page->granules], number);
    slab->page_used--;
    slab->page_belongs -= slab_belongs(page->kind);
    page->kind = SLAB_FREE;
    list_push(slab, &slab->page_free, number);
}

/* ---- slots ---- */

static bool page_is_full(const struct slab *slab, const struct slab_page *page)
{
    return page->free == 0 && (page->fresh + 1u) * page->granules > (1u << slab->arena->page_bits);
}

uint32_t slab_alloc(struct slab *slab, enum slab_kind kind, size_t size)
{
    unsigned granules = (unsigned)((size + SLAB_GRANULE - 1) / SLAB_GRANULE);
    assert(granules > 0 && granules <= SLAB_GRANULES_MAX);
    uint32_t number = slab->room[kind][granules];
    if (number == 0)
        number = page_take(slab, kind, granules);
    if (number == 0)
        return 0;
    struct slab_page *page = &slab->page[number];
    uint32_t index;
    if (page->free) {
        index = slab_index(slab, number, page->free - 1u);
        memcpy(&page->free, arena_at(slab->arena, index), sizeof(page->free));
    } else {
        index = slab_index(slab, number, page->fresh++);
    }
    page->live++;
    if (page_is_full(slab, page))
        list_remove(slab, &slab->room[kind][granules], number);
    return index;
}

void slab_free(struct slab *slab, uint32_t index)
{
    uint32_t number = slab_page_of(slab, index);
    struct slab_page *page = &slab->page[number];
    assert(page->live > 0);
    if (page_is_full(slab, page))
        list_push(slab, &slab->room[page->kind][page->granules], number);
    uint32_t offset = (index - slab->first) & ((1u << slab->arena->page_bits) - 1);
    memcpy(arena_at(slab->arena, index), &page->free, sizeof(page->free));
    page->free = (uint16_t)(offset / page->granules + 1);
    if (--page->live == 0)
        page_give(slab, number);
}

bool slab_holds(const struct slab *slab, uint32_t index, enum slab_kind kind)
{
    const struct slab_page *page = &slab->page[slab_page_of(slab, index)];
    uint32_t offset = (index - slab->first) & ((1u << slab->arena->page_bits) - 1);
    return page->kind == kind && offset % page->granules == 0 &&
           offset / page->granules < page->fresh;
}
