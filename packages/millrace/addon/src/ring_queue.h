/* Records of one size, from any number of threads to one reader: plain C, without a loop and without JavaScript.
 *
 * The records stand in one piece of memory, in the order in which their places were claimed, so that a batch is a part
 * of it: nothing is copied or allocated for the reader. A post claims places by moving `tail`, writes the records, and
 * publishes each place with the lap of the ring that it is of. The reader takes what is published without a gap, and
 * gives the places back by moving `head`. Both only grow; the low bits are the place, the rest is the lap.
 *
 * `wake` is how the reader sleeps. It is set to asleep first and `tail` is looked at afterwards; a post moves `tail`
 * first and looks at `wake` afterwards. All four are sequentially consistent, so at least one sees the other: the
 * reader sleeps only when nothing is claimed, and whoever claims later wakes it. So a post has one atomic exchange, and the
 * reader a third answer: a place is claimed by a thread that has not published it yet, and that will not wake it. */
#ifndef MILLRACE_RING_QUEUE_H
#define MILLRACE_RING_QUEUE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__STDC_NO_ATOMICS__)
#error "the ring needs C11 atomics"
#endif

typedef struct {
  /* Set once. */
  unsigned char* records;
  atomic_uchar* published; /* the lap of each place; a byte, as each one is read and written by many cores */
  size_t record_size;
  uint64_t capacity; /* a power of two */
  uint32_t lap_shift;
  char line_of_reader[64];
  atomic_uint_fast64_t head; /* the reader writes it once a batch */
  atomic_uint_fast32_t wake;
  char line_of_posts[64];
  atomic_uint_fast64_t tail; /* twice the next number, plus one when closed: every post writes it */
  char last_line[64];
} ring_queue_t;

/* Capacity: a power of two. -1 when there is no memory. */
int ring_queue_init(ring_queue_t* queue, size_t record_size, uint32_t capacity);
void ring_queue_destroy(ring_queue_t* queue);

enum { ring_taken = 0, ring_wakes = 1, ring_full = -1, ring_closed = -2 };

/* Posts all of the records, next to each other, or none, on any thread. `count` is from 1 to the capacity. After
 * ring_wakes the caller has to wake the reader; ring_full and ring_closed refuse. */
int ring_queue_post(ring_queue_t* queue, const void* records, size_t count);

/* Refuses later posts, on any thread. Returns 1 when the caller has to wake the reader, which then may find the end. */
int ring_queue_close(ring_queue_t* queue);

/* The reader: how many records, at most `limit`, it can read from the place `first` on. 0: there is none, as yet. */
uint32_t ring_queue_ready(ring_queue_t* queue, uint32_t limit, uint32_t* first);

/* The reader: it has read so many, and their places are free. */
void ring_queue_free(ring_queue_t* queue, uint32_t count);

/* The reader, when it wants to sleep until it is woken. */
enum {
  ring_asleep, /* it may */
  ring_more,   /* there is something to read, or the end */
  ring_claimed /* there will be in a moment: a thread is in the middle of a post. Nobody wakes the reader for it */
};
int ring_queue_sleep(ring_queue_t* queue);

/* The reader: 1 when the ring is closed and every record that was taken has been read. */
int ring_queue_finished(ring_queue_t* queue);

#endif
