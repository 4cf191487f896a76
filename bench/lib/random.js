/** A small generator of random numbers with a seed (mulberry32), so that a run can be repeated. */

/**
 * @param {number} seed an integer from 0 to 2^32 - 1
 * @returns {() => number} numbers from 0 to below 1
 */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A copy in random order (Fisher-Yates). */
export function shuffled(items, random) {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [copy[last], copy[other]] = [copy[other], copy[last]];
  }
  return copy;
}
