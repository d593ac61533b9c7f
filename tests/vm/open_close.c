/*
 * open_close: close-to-open between two machines: what one has closed, the other sees at its next open, at once.
 *
 *   vm-open_close data|names FOLDER ME ROUNDS      ME is 0 on one machine and 1 on the other
 *
 * In each round one of them makes every change, and the other looks, once it is told that it is its turn: then the other way
 * round. Says what was not seen, and exits with 1 then.
 */
#include "vm/open_close.h"

#include "vm/expect.h"
#include "vm/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void play(const struct change *changes, unsigned me, unsigned rounds)
{
    for (unsigned turn = me; turn <= rounds; turn += 2) {
        turns_wait(turn);
        if (turn > 0)
            for (const struct change *c = changes; c->what != NULL; c++)
                c->look(turn - 1);
        if (turn == rounds)
            break;
        for (const struct change *c = changes; c->what != NULL; c++)
            c->make(turn);
        turns_done(turn);
    }
}

int main(int argc, char **argv)
{
    const struct change *changes = NULL;
    if (argc == 5 && strcmp(argv[1], "data") == 0)
        changes = data_changes;
    else if (argc == 5 && strcmp(argv[1], "names") == 0)
        changes = name_changes;
    if (changes == NULL) {
        fprintf(stderr, "usage: vm-open_close data|names FOLDER ME ROUNDS\n");
        return 2;
    }
    unsigned me = (unsigned)strtoul(argv[3], NULL, 10),
             rounds = (unsigned)strtoul(argv[4], NULL, 10);
    setvbuf(stdout, NULL, _IOLBF, 0);
    must(chdir(argv[2]) == 0, "folder %s", argv[2]);
    if (me == 0)
        for (const struct change *c = changes; c->what != NULL; c++)
            if (c->prepare != NULL)
                c->prepare();
    turns_begin("turn", (int)me);
    play(changes, me, rounds);
    return expect_status();
}
