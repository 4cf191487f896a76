/** Calls at given moments, and how late they came: a timer has whole milliseconds, and others use the CPU. */

/**
 * @param {Iterable<object>} events each with `due`, ms of `performance.now()`, in ascending order
 * @param {(event: object) => void} send
 * @returns {Promise<number[]>} how late each was, ms, when the last is sent
 */
export function sendWhenDue(events, send) {
  const list = [...events];
  const late = [];
  let next = 0;
  return new Promise((resolve) => {
    function run() {
      for (; next < list.length && list[next].due <= performance.now(); next++) {
        late.push(performance.now() - list[next].due);
        send(list[next]);
      }
      if (next === list.length) resolve(late);
      else setTimeout(run, Math.max(0, list[next].due - performance.now()));
    }
    run();
  });
}

/** Moments of a Poisson process: arrivals that know nothing of each other, nor of the answers. */
export function* poisson(rate, from, until, random) {
  for (let due = from; ; ) {
    due -= (Math.log(1 - random()) * 1000) / rate;
    if (due >= until) return;
    yield due;
  }
}

/** Percentile by nearest rank; NaN of nothing. */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? Number.NaN : sorted[Math.ceil(sorted.length * share) - 1];
}
