/*
 * turns: two processes on two machines take turns. What tells whose turn it is is a file that both have open, read and written
 * past all caches, so that taking a turn shows a client nothing of other files.
 */
#ifndef VM_TURNS_H
#define VM_TURNS_H

/* `me` is 0 or 1; 0 makes the file, and its turn is 0, 2, 4, ... */
void turns_begin(const char *path, int me);
/* Waits until so many turns are over. */
void turns_wait(unsigned turn);
/* This turn is over. */
void turns_done(unsigned turn);

#endif
