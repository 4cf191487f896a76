/** Events of a simulation in the order of their times: a binary heap. */
export class Events {
  /** s since the start. */
  now = 0;
  #heap = [];

  /** Calls back this many seconds from now. */
  after(seconds, call) {
    const heap = this.#heap;
    const event = { at: this.now + seconds, call };
    let i = heap.length;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (heap[parent].at <= event.at) break;
      heap[i] = heap[parent];
      i = parent;
    }
    heap[i] = event;
  }

  /** Calls what is due until then, and what those calls add. */
  runUntil(end) {
    while (this.#heap.length > 0 && this.#heap[0].at <= end) {
      const event = this.#next();
      this.now = event.at;
      event.call();
    }
    this.now = end;
  }

  #next() {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (heap.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1].at < heap[child].at) child += 1;
      if (heap[child].at >= last.at) break;
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = last;
    return first;
  }
}
