/*
 * replay: a call that changed something is sent again when its reply was lost, because the proxy or the server was killed;
 * neither knows then that it was done before, and says that a name exists, or does not. The client passes that on.
 *
 * With replays allowed such an error is taken for a success, if the effect of the operation is in place. They are counted.
 */
#ifndef VM_REPLAY_H
#define VM_REPLAY_H

#include <stdbool.h>

void replay_allow(bool allowed);
/* The result (-1 with errno, or not) of an operation that should have succeeded, and that says `error` when it was done before.
 * True when it did succeed, or may be taken for it: the caller must then check that its effect is in place. */
bool replay_success(long result, int error);
/* Prints how many there were, if any. */
void replay_report(void);

#endif
