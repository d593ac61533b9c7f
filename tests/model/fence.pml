/*
 * fence: the protocol by which replies that come in any order are kept or not (cache/cache.h), for one file, as a model
 * that spin searches exhaustively. run.sh says which variants there are, and what is expected of each.
 *
 * Two reading calls and two mutations are in flight at a time, again and again without end. Meanwhile the objects
 * are evicted, others change the file on the server, and anybody asks the cache. The server executes a call at some
 * time after it was sent, all at once; its reply takes as long as it likes. Two workers handle replies. The order of
 * steps is that of cache/fill.c and cache/mutation.c; a step is what happens under locks without a break.
 *
 * What is checked
 *   C1 C2   whatever the cache would say now is not older than any state that a reply has shown, or that a mutation
 *           whose reply was sent has made (with or without attributes in the reply)
 *   C7      what is kept of a reply was in flight together with no mutation: not of its own handle, nor of the file
 *           where that was known; what another handle's mutation could not know of is gone when that one ends
 *   herd    (LIVE) while the calls of two readers overlap without a break, after a mutation, their replies are not
 *           refused for ever
 *
 * What is left out
 *   Names and verdicts, whose rules are the same once more; ages (anybody may ask the server at any time, and the cache
 *   too), doubt, and two keys on one fence. A state is a number, and two states differ in their attributes (ABA: they
 *   alternate between two). A reply counts as shown once it has been handled, which is before the client gets it.
 *
 * How it stays small
 *   The event clock has no end, so what is written down is an order: the calls in flight are its only marks, at 2, 4, 6
 *   …, and any other time is a mark or a place between two. A call's mark goes when it ends, or when a stamp has
 *   overtaken it (then it can't be kept any more). No comparison that the protocol makes can tell the difference. Calls
 *   take their places in the order in which they were sent. PLAIN does without most of this.
 *
 * Bounds
 *   CHANGES (how often the file changes), READS and MUTATIONS in flight, ALIASES (handles of the file, 1 or 2),
 *   NO_FAILURES (there are no mutations that change nothing).
 *
 * Rules
 *   (none)             those of cache.h: what is not kept raises the fence's stamp to the time of its receipt
 *   SOFT               it leaves a record {shown, digest} instead. A reply to a call that was sent before `shown` is
 *                      kept only if it says the same. Of two records that differ, the earlier one's time becomes the
 *                      stamp, and the later one stays.
 *   SOFT MIXED         of two records that differ, what stays is the later time, and a digest that nothing equals
 *
 * Rules to be taken away, which must not go unnoticed
 *   NO_STAMP_CHECK     a reply is kept wherever no mutation is in flight
 *   NO_INFLIGHT_CHECK  … wherever its call was sent after the stamp
 *   NO_OVERLAP_RULE    of two replies whose calls overlap, the one that comes later is kept
 *   NO_ALONE_RULE      a mutation's own attributes are kept though another was there since it began
 *   NO_ALIAS_FENCE     nothing is known of a file's other handle
 *   END_BEFORE_HARVEST a mutation's attributes are kept after it has ended, if it was alone then
 *   REPLY_BEFORE_END   the client gets a mutation's reply before it has ended
 *   EVICTION_FORGETS   what is evicted leaves nothing at the fences
 *   REFUSAL_FORGETS    what is refused leaves nothing at the fences
 *   ONE_FENCE          what is dropped leaves something at its handle's fence, and nothing at the identity's
 *   NO_OWN_RECORD      (SOFT) a mutation's own attributes are kept whatever is recorded
 *   ONE_DIGEST         (SOFT) ONE_FENCE, and what is refused is recorded with the time of what it contradicts, if later
 */
#ifndef CHANGES
#define CHANGES 2
#endif
#ifndef ALIASES
#define ALIASES 2
#endif
#ifndef READS
#define READS 2
#endif
#ifndef MUTATIONS
#define MUTATIONS 2
#endif

#if ALIASES == 2 && !defined(NO_ALIAS_FENCE)
#define ALIAS_RULES 1
#else
#define ALIAS_RULES 0
#endif

#ifdef NO_C7
#define C7(condition) skip
#else
#define C7(condition) assert(condition)
#endif
#ifdef NO_C1_C2
#define C1_C2(condition) skip
#else
#define C1_C2(condition) assert(condition)
#endif

/* Fences: one for each handle, and the identity's. */
#define IDENTITY 2

/* Times. */
byte t[17] = 1; /* START */
#define STAMP(fence)    t[fence]
#define SHOWN(fence)    t[3 + (fence)]
#define RECEIVED(entry) t[6 + (entry)]
#define SENT(read)      t[8 + (read)]
#define CAME(read)      t[10 + (read)]
#define BEGAN(mutation) t[12 + (mutation)]
#define ENDED(mutation) t[14 + (mutation)]
#define LAST_END        t[16] /* of any mutation; for C7 */
byte marks;
#define NOW      (2 * marks + 1)
#define START    1 /* before all calls that are in flight */
#define OVERTAKEN 0

byte inflight[3]; /* of each fence */
byte recorded[3]; /* the digest; 0: none */
#define MIXED_UP 255
#ifdef ABA
#define DIGEST(state) (1 + (state) % 2)
#else
#define DIGEST(state) (1 + (state))
#endif

/* The cache: what is kept under each handle. */
bit present[2], valid[2];
byte kept_state[2];
bit kept_under0[2], kept_under1[2]; /* kept while mutation 0, 1 was in flight; for C7 */

byte server; /* the state of the file */
byte floor;  /* the latest that anybody has seen, or that a mutation has made that is done */
bit mutated; /* a mutation is done */
byte idle = 2; /* workers */

/* Calls. */
mtype = {
    FREE,
    /* reading calls */ ASKED, EXECUTED, REPLIED,
    /* mutations, which go through the last two as well */ TICKED, RAISED, SENDING, HANDLED, ENDING, VISITING, LOWERING,
    LOWERING_FILE, LOWERED
};
mtype read_step[2] = FREE, step[2] = FREE;
byte read_state[2], state[2];
bit read_handle[2], handle[2];
bit fenced[2];  /* the identity was known when the mutation began */
bit found[2];   /* the other handle's object, when the identity's fence was raised: it is to be visited */
bit latest[2];  /* no other mutation has begun since, at any of its fences */
bit alone[2];   /* END_BEFORE_HARVEST */

/* Used inside one step only. */
hidden byte a_, h_, k_, r_, sent_, digest_, admitted_, ordered_, stored_;

/* ---- the clock ---- */

#define CLOSED(x, mark) x = x - 2 * (x > mark) - (x == mark)

/* The mark at `time` goes. */
inline unmark(time)
{
    k_ = time;
    if
    :: k_ > START ->
        time = OVERTAKEN;
        CLOSED(t[0], k_); CLOSED(t[1], k_); CLOSED(t[2], k_); CLOSED(t[3], k_); CLOSED(t[4], k_); CLOSED(t[5], k_);
        CLOSED(t[6], k_); CLOSED(t[7], k_); CLOSED(t[8], k_); CLOSED(t[9], k_); CLOSED(t[10], k_); CLOSED(t[11], k_);
        CLOSED(t[12], k_); CLOSED(t[13], k_); CLOSED(t[14], k_); CLOSED(t[15], k_); CLOSED(t[16], k_);
        marks--
    :: else
    fi
}

inline mark(time)
{
    marks++;
    time = 2 * marks
}

/* Calls that can't be kept any more. */
#if defined(NO_STAMP_CHECK) || defined(PLAIN)
#define LATE(read) false
#else
#define LATE(read) (SENT(read) < STAMP(read_handle[read]) || (ALIAS_RULES && SENT(read) < STAMP(IDENTITY)))
#endif
#if defined(NO_ALONE_RULE) || defined(PLAIN)
#define LATE_MUTATION(m) false
#else
#define LATE_MUTATION(m) (BEGAN(m) < STAMP(handle[m]) || (ALIAS_RULES && BEGAN(m) < STAMP(IDENTITY)))
#endif

inline overtake()
{
    if :: SENT(0) && LATE(0) -> unmark(SENT(0)) :: else fi;
    if :: SENT(1) && LATE(1) -> unmark(SENT(1)) :: else fi;
    if :: BEGAN(0) && LATE_MUTATION(0) -> unmark(BEGAN(0)) :: else fi;
    if :: BEGAN(1) && LATE_MUTATION(1) -> unmark(BEGAN(1)) :: else fi
}

/*
 * What makes no difference looks the same: a stamp when all that it shuts out has been overtaken, a record when all
 * that it is about has ended, the time of what is not kept.
 */
#define BEFORE(time, of, fence, shown) (time && time < shown && (of == fence || fence == IDENTITY))
#if defined(MIXED) || defined(PLAIN)
#define RESET(f) skip
#else
#define RESET(f) STAMP(f) = START
#endif
#define TIDY_FENCE(f)                                                                                                  \
    RESET(f);                                                                                                          \
    if                                                                                                                 \
    :: BEFORE(SENT(0), read_handle[0], f, SHOWN(f)) || BEFORE(SENT(1), read_handle[1], f, SHOWN(f)) ||                 \
           BEFORE(BEGAN(0), handle[0], f, SHOWN(f)) || BEFORE(BEGAN(1), handle[1], f, SHOWN(f))                        \
    :: else -> SHOWN(f) = START; recorded[f] = 0                                                                       \
    fi
#define TIDY_ENTRY(e)                                                                                                  \
    if                                                                                                                 \
    :: !valid[e] -> RECEIVED(e) = START; kept_state[e] = 0; kept_under0[e] = 0; kept_under1[e] = 0                     \
    :: else                                                                                                            \
    fi

/* Handles are alike: that of the first call is 0. */
#define SWAP(x, y) k_ = x; x = y; y = k_
inline turn()
{
    if
    :: read_handle[0] == 1 ->
        SWAP(t[0], t[1]); SWAP(t[3], t[4]); SWAP(t[6], t[7]);
        SWAP(inflight[0], inflight[1]); SWAP(recorded[0], recorded[1]);
        SWAP(present[0], present[1]); SWAP(valid[0], valid[1]); SWAP(kept_state[0], kept_state[1]);
        SWAP(kept_under0[0], kept_under0[1]); SWAP(kept_under1[0], kept_under1[1]);
        read_handle[0] = 0;
        read_handle[1] = (read_step[1] != FREE && !read_handle[1]);
        handle[0] = (step[0] != FREE && !handle[0]);
        handle[1] = (step[1] != FREE && !handle[1]);
        printf("(handles 0 and 1 trade names)\n")
    :: else
    fi
}

inline tidy()
{
    overtake();
    TIDY_FENCE(0);
    TIDY_ENTRY(0);
#if ALIASES == 2
    TIDY_FENCE(1);
    TIDY_FENCE(2);
    TIDY_ENTRY(1);
#ifndef PLAIN
    turn()
#endif
#endif
}

/* ---- a fence ---- */

inline raise(fence, time)
{
    if :: STAMP(fence) < time -> STAMP(fence) = time :: else fi
}

/* A state that was shown, at that time, and is not kept. */
inline record(fence, time, digest)
{
#ifdef SOFT
    if
    :: time <= STAMP(fence)
    :: time > STAMP(fence) && SHOWN(fence) <= STAMP(fence) ->
        SHOWN(fence) = time;
        recorded[fence] = digest
    :: else ->
#ifdef MIXED
        if :: recorded[fence] != digest -> recorded[fence] = MIXED_UP :: else fi;
        if :: SHOWN(fence) < time -> SHOWN(fence) = time :: else fi
#else
        if
        :: recorded[fence] == digest -> if :: SHOWN(fence) < time -> SHOWN(fence) = time :: else fi
        :: recorded[fence] != digest && SHOWN(fence) <= time ->
            raise(fence, SHOWN(fence));
            SHOWN(fence) = time;
            recorded[fence] = digest
        :: else -> raise(fence, time)
        fi
#endif
    fi
#else
    raise(fence, time)
#endif
}

inline record_all(fence, time, digest)
{
    record(fence, time, digest);
#if ALIASES == 2
    record(IDENTITY, time, digest)
#endif
}

#ifdef SOFT
#define AGREES(fence, sent, digest) (SHOWN(fence) <= sent || recorded[fence] == digest)
#else
#define AGREES(fence, sent, digest) true
#endif
#ifdef NO_STAMP_CHECK
#define STAMP_ADMITS(fence, sent) true
#else
#define STAMP_ADMITS(fence, sent) (STAMP(fence) <= sent)
#endif
#ifdef NO_INFLIGHT_CHECK
#define QUIET(fence) true
#else
#define QUIET(fence) (inflight[fence] == 0)
#endif
#define ADMITS(fence, sent, digest) (QUIET(fence) && STAMP_ADMITS(fence, sent) && AGREES(fence, sent, digest))

/* ---- an entry ---- */

#define DIGEST_OF(entry) DIGEST(kept_state[entry])

/* Not served any more; it was shown. */
inline invalidate(entry)
{
    if
    :: valid[entry] ->
#if defined(ONE_FENCE) || defined(ONE_DIGEST)
        record(entry, RECEIVED(entry), DIGEST_OF(entry));
#else
        record_all(entry, RECEIVED(entry), DIGEST_OF(entry));
#endif
        valid[entry] = 0
    :: else
    fi
}

/* Until the fences know of its end. */
#define IN_FLIGHT(m) (step[m] != FREE && step[m] != TICKED && step[m] != VISITING && step[m] != LOWERING &&            \
                      step[m] != LOWERING_FILE && step[m] != LOWERED)

inline store(entry, new, time)
{
    present[entry] = 1;
    valid[entry] = 1;
    kept_state[entry] = new;
    RECEIVED(entry) = time;
#ifndef NO_C7
    kept_under0[entry] = IN_FLIGHT(0);
    kept_under1[entry] = IN_FLIGHT(1);
#endif
    stored_ = 1
}

inline see(new)
{
    if :: floor < new -> floor = new :: else fi
}

/* C7: no mutation that this handle's or the identity's fence knows of. */
#define UNRELATED(m, entry) (!IN_FLIGHT(m) || (handle[m] != entry && !fenced[m]))

/* ---- calls that change nothing ---- */

/* cache_fill_attributes, with all locks held: the reply of call `r`. */
inline fill(r)
{
    h_ = read_handle[r];
    sent_ = SENT(r);
    digest_ = DIGEST(read_state[r]);
    admitted_ = ADMITS(h_, sent_, digest_);
    ordered_ = 1;
    stored_ = 0;
    r_ = CAME(r);
#if ALIAS_RULES
    a_ = 1 - h_;
    admitted_ = admitted_ && ADMITS(IDENTITY, sent_, digest_);
    if
    :: valid[a_] && DIGEST_OF(a_) != digest_ ->
        if
        :: !admitted_ || sent_ < RECEIVED(a_) ->
            ordered_ = 0;
            if :: r_ < RECEIVED(a_) -> r_ = RECEIVED(a_) :: else fi
        :: else
        fi;
        invalidate(a_)
    :: else
    fi;
#endif
    if
    :: admitted_ && ordered_ && (!valid[h_] || sent_ >= RECEIVED(h_)) -> store(h_, read_state[r], CAME(r))
#ifdef NO_OVERLAP_RULE
    :: admitted_ && ordered_ && valid[h_] && sent_ < RECEIVED(h_) -> store(h_, read_state[r], CAME(r))
#else
    :: admitted_ && ordered_ && valid[h_] && sent_ < RECEIVED(h_) && DIGEST_OF(h_) == digest_ ->
        if :: RECEIVED(h_) < CAME(r) -> RECEIVED(h_) = CAME(r) :: else fi;
        stored_ = 1
#endif
    :: else ->
        if
        :: valid[h_] && (DIGEST_OF(h_) != digest_ || (admitted_ && !ordered_)) ->
            if :: r_ < RECEIVED(h_) -> r_ = RECEIVED(h_) :: else fi;
            invalidate(h_)
        :: else
        fi;
#if defined(SOFT) && !defined(ONE_DIGEST)
        r_ = CAME(r);
#endif
#ifndef REFUSAL_FORGETS
        record_all(h_, r_, digest_)
#endif
    fi;
    C7(!stored_ || (LAST_END <= sent_ && UNRELATED(0, h_) && UNRELATED(1, h_)));
    printf("read %d: state %d is shown, kept: %d\n", r, read_state[r], stored_);
    see(read_state[r])
}

inline read_ends(r)
{
    unmark(SENT(r));
    if
    :: r == 0 && READS == 2 ->
        if :: read_step[1] != FREE -> printf("(read 1 is now read 0)\n") :: else fi;
        read_step[0] = read_step[1]; read_handle[0] = read_handle[1]; read_state[0] = read_state[1];
        SENT(0) = SENT(1); CAME(0) = CAME(1);
        read_step[1] = FREE; read_handle[1] = 0; read_state[1] = 0; SENT(1) = 0; CAME(1) = 0
    :: else -> read_step[r] = FREE; read_handle[r] = 0; read_state[r] = 0; CAME(r) = 0
    fi
}

inline ask(by)
{
    r_ = (read_step[0] != FREE);
    read_step[r_] = ASKED;
    read_handle[r_] = by;
    mark(SENT(r_));
    printf("read %d is sent, by handle %d\n", r_, by);
    tidy()
}

inline execute_read(r)
{
    read_step[r] = EXECUTED;
    read_state[r] = server;
    printf("read %d is executed: state %d\n", r, server)
}

inline read_comes(r)
{
    idle--;
    read_step[r] = REPLIED;
    CAME(r) = NOW;
    printf("read %d: its reply comes\n", r)
}

#define ROOM (read_step[READS - 1] == FREE)
#ifdef LIVE
#define MAY_ASK  (ROOM && !valid[0] && !valid[1]) /* else it is a hit */
#define MAY_COME (read_step[READS - 1] != FREE)    /* the next has been sent */
#else
#define MAY_ASK  ROOM
#define MAY_COME true
#endif

#define READ(r)                                                                                                        \
    :: d_step { read_step[r] == ASKED -> execute_read(r) }                                                             \
    :: d_step { read_step[r] == EXECUTED && idle && MAY_COME -> read_comes(r) }                                        \
    :: atomic { read_step[r] == REPLIED -> d_step { fill(r); read_ends(r); idle++; tidy() }; goto handled }

active proctype Readers()
{
again:
    do
    :: d_step { MAY_ASK -> ask(0) }
#if ALIASES == 2
    :: d_step { MAY_ASK -> ask(1) }
#endif
    READ(0)
#if READS == 2
    READ(1)
#endif
    od;
handled:
#ifdef LIVE
#ifdef FILLED
    assert(!mutated || !stored_);
#endif
    if
    :: mutated && !stored_ -> stored_ = 0; goto refused
    :: else -> stored_ = 0
    fi;
    goto again;
refused:
accept_refused:
    skip;
#endif
    goto again
}

/* ---- mutations ---- */

inline begin(by)
{
    r_ = (step[0] != FREE);
    idle--;
    step[r_] = TICKED;
    handle[r_] = by;
    mark(BEGAN(r_));
    printf("mutation %d by handle %d takes its tick\n", r_, by)
}

/* The fences of the handle and, where it is known which file that is, of the identity. */
inline raise_fences(m)
{
    h_ = handle[m];
    inflight[h_]++;
    raise(h_, BEGAN(m));
    printf("mutation %d raises its fences, the file is known: %d\n", m, present[h_]);
    latest[m] = 1;
    if :: handle[1 - m] == h_ -> latest[1 - m] = 0 :: else fi;
#if ALIAS_RULES
    if
    :: present[h_] ->
        fenced[m] = 1;
        inflight[IDENTITY]++;
        raise(IDENTITY, BEGAN(m));
        found[m] = present[1 - h_];
        if :: fenced[1 - m] -> latest[1 - m] = 0 :: else fi
    :: else
    fi;
#endif
    invalidate(h_);
    if :: !latest[1 - m] -> unmark(BEGAN(1 - m)) :: else fi;
    if
    :: fenced[m] -> step[m] = RAISED
    :: else -> step[m] = SENDING; idle++
    fi
}

inline visit_alias(m)
{
    a_ = 1 - handle[m];
    if
    :: found[m] ->
        printf("mutation %d visits handle %d\n", m, a_);
        invalidate(a_);
        found[m] = 0
    :: else
    fi
}

#ifdef NO_ALONE_RULE
#define WAS_ALONE(m, fence) (inflight[fence] == 1)
#else
#define WAS_ALONE(m, fence) (inflight[fence] == 1 && latest[m] && STAMP(fence) <= BEGAN(m))
#endif
#ifdef NO_OWN_RECORD
#define OWN_AGREES(m, fence) true
#else
#define OWN_AGREES(m, fence) AGREES(fence, BEGAN(m), DIGEST(state[m]))
#endif
#define MAY_KEEP(m) (WAS_ALONE(m, handle[m]) && OWN_AGREES(m, handle[m]))
#if ALIAS_RULES
#define MAY_KEEP_FILE(m) ((fenced[m] && WAS_ALONE(m, IDENTITY) && OWN_AGREES(m, IDENTITY)) ||                          \
                          (!fenced[m] && ADMITS(IDENTITY, BEGAN(m), DIGEST(state[m]))))
#else
#define MAY_KEEP_FILE(m) true
#endif

/* The reply's attributes. What is kept under the other handle goes, where nobody knew of it. */
inline keep_after(m)
{
    stored_ = 0;
    h_ = handle[m];
#if ALIAS_RULES
    a_ = 1 - h_;
    if
    :: !fenced[m] && valid[a_] ->
        if :: DIGEST_OF(a_) != DIGEST(state[m]) -> record(IDENTITY, RECEIVED(a_), DIGEST_OF(a_)) :: else fi;
        invalidate(a_)
    :: else
    fi;
#endif
#ifdef END_BEFORE_HARVEST
    if :: alone[m] -> store(h_, state[m], NOW) :: else fi;
#else
    if :: MAY_KEEP(m) && MAY_KEEP_FILE(m) -> store(h_, state[m], NOW) :: else fi;
    C7(!stored_ || (LAST_END <= BEGAN(m) && UNRELATED(1 - m, h_)));
#endif
    printf("mutation %d: its attributes, state %d, are kept: %d\n", m, state[m], stored_);
    if :: stored_ && m == 0 -> kept_under0[h_] = 0 :: stored_ && m == 1 -> kept_under1[h_] = 0 :: else fi;
    stored_ = 0
}

#ifdef END_BEFORE_HARVEST
#define AFTER_REPLY  HANDLED
#define AFTER_RESULT LOWERED
#define AFTER_LOWER  REPLIED
#else
#define AFTER_REPLY  REPLIED
#define AFTER_RESULT HANDLED
#define AFTER_LOWER  LOWERED
#endif

inline execute(m)
{
    state[m] = server;
    step[m] = EXECUTED;
    printf("mutation %d is executed: state %d\n", m, server)
}

inline reply_comes(m)
{
    idle--;
    step[m] = AFTER_REPLY;
#ifdef REPLY_BEFORE_END
    see(state[m]);
#endif
    printf("mutation %d: its reply comes\n", m)
}

inline end_tick(m)
{
#ifdef END_BEFORE_HARVEST
    alone[m] = (MAY_KEEP(m) && MAY_KEEP_FILE(m));
#endif
    unmark(BEGAN(m));
    ENDED(m) = NOW;
    printf("mutation %d takes its last tick\n", m);
    step[m] = (ALIAS_RULES && !fenced[m] -> ENDING : LOWERING)
}

inline ended(m)
{
#ifndef NO_C7
    if :: LAST_END < ENDED(m) -> LAST_END = ENDED(m) :: else fi;
#endif
    skip
}

inline lower(m, fence)
{
    ended(m);
    printf("mutation %d lowers fence %d\n", m, fence);
    inflight[fence]--;
    raise(fence, ENDED(m))
}

/* Which file it is came to light only now. */
inline raise_file(m)
{
    ended(m);
    raise(IDENTITY, ENDED(m));
    found[m] = present[1 - handle[m]];
    step[m] = VISITING;
    printf("mutation %d raises the file's fence\n", m)
}

#define CLEAR(m)                                                                                                       \
    step[m] = FREE; handle[m] = 0; state[m] = 0; fenced[m] = 0; latest[m] = 0; found[m] = 0; alone[m] = 0;             \
    BEGAN(m) = 0; ENDED(m) = 0

/* The client gets the reply. */
inline mutation_ends(m)
{
    printf("mutation %d ends\n", m);
    see(state[m]);
    mutated = 1;
    C7(m == 1 || (!kept_under0[0] && !kept_under0[1]));
    C7(m == 0 || (!kept_under1[0] && !kept_under1[1]));
    if
    :: m == 0 && MUTATIONS == 2 ->
        if :: step[1] != FREE -> printf("(mutation 1 is now mutation 0)\n") :: else fi;
        step[0] = step[1]; handle[0] = handle[1]; state[0] = state[1]; fenced[0] = fenced[1]; latest[0] = latest[1];
        found[0] = found[1]; alone[0] = alone[1]; BEGAN(0) = BEGAN(1); ENDED(0) = ENDED(1);
        kept_under0[0] = kept_under1[0]; kept_under0[1] = kept_under1[1]; kept_under1[0] = 0; kept_under1[1] = 0;
        CLEAR(1)
    :: else -> CLEAR(m)
    fi;
    idle++
}

#define MUTATION(m)                                                                                                    \
    :: d_step { step[m] == TICKED -> raise_fences(m); tidy() }                                                         \
    :: d_step { step[m] == RAISED -> visit_alias(m); step[m] = SENDING; idle++; tidy() }                               \
    :: d_step { step[m] == SENDING && server < CHANGES -> server++; execute(m) }                                       \
    :: d_step { step[m] == SENDING && FAILS -> execute(m) } /* it changes nothing */                                   \
    :: d_step { step[m] == EXECUTED && idle -> reply_comes(m) }                                                        \
    :: d_step { step[m] == REPLIED -> keep_after(m); step[m] = AFTER_RESULT; tidy() }                                  \
    :: d_step { step[m] == REPLIED -> step[m] = AFTER_RESULT } /* it has no attributes */                              \
    :: d_step { step[m] == HANDLED -> end_tick(m); tidy() }                                                            \
    :: d_step { step[m] == ENDING -> raise_file(m); tidy() }                                                           \
    :: d_step { step[m] == VISITING -> visit_alias(m); step[m] = LOWERING; tidy() }                                    \
    :: d_step { step[m] == LOWERING && fenced[m] -> lower(m, handle[m]); step[m] = LOWERING_FILE; tidy() }             \
    :: d_step { step[m] == LOWERING && !fenced[m] -> lower(m, handle[m]); step[m] = AFTER_LOWER; tidy() }              \
    :: d_step { step[m] == LOWERING_FILE -> lower(m, IDENTITY); step[m] = AFTER_LOWER; tidy() }                        \
    :: d_step { step[m] == LOWERED -> mutation_ends(m); tidy() }

#ifdef NO_FAILURES
#define MAY_BEGIN (step[MUTATIONS - 1] == FREE && idle && server < CHANGES)
#define FAILS     (server == CHANGES)
#elif defined(LIVE)
#define MAY_BEGIN (step[MUTATIONS - 1] == FREE && idle && !mutated)
#define FAILS     false
#else
#define MAY_BEGIN (step[MUTATIONS - 1] == FREE && idle)
#define FAILS     (server > 0)
#endif

active proctype Writers()
{
    do
    :: d_step { MAY_BEGIN -> begin(0) }
#if ALIASES == 2
    :: d_step { MAY_BEGIN -> begin(1) }
#endif
    MUTATION(0)
#if MUTATIONS == 2
    MUTATION(1)
#endif
    od
}

/* ---- what else happens ---- */

/* Somebody whose call the cache answers. Of two states that look the same, an older one passes for the newer. */
#ifdef ABA
#define GOOD(old) (old >= floor || DIGEST(old) == DIGEST(floor) || floor < server)
#else
#define GOOD(old) (old >= floor)
#endif
inline hit(entry)
{
    printf("hit on handle %d: state %d\n", entry, kept_state[entry]);
    C1_C2(GOOD(kept_state[entry]));
    see(kept_state[entry])
}

inline evict(entry)
{
#ifndef EVICTION_FORGETS
    if
    :: valid[entry] -> record_all(entry, RECEIVED(entry), DIGEST_OF(entry))
    :: else
    fi;
#endif
    valid[entry] = 0;
    present[entry] = 0;
    if :: handle[0] != entry -> found[0] = 0 :: else fi;
    if :: handle[1] != entry -> found[1] = 0 :: else fi;
    printf("handle %d is evicted\n", entry);
    tidy()
}

#ifndef LIVE
active proctype Others()
{
    do
    :: d_step { valid[0] -> hit(0) }
    :: d_step { present[0] -> evict(0) }
#if ALIASES == 2
    :: d_step { valid[1] -> hit(1) }
    :: d_step { present[1] -> evict(1) }
#endif
    :: d_step { server < CHANGES -> server++; printf("outside: state %d\n", server) }
    od
}
#endif
