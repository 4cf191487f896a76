/** Random numbers from a seed (splitmix32), so that a run can be repeated in the same order. */

/** The greatest seed. */
export const MOST_SEED = 4_294_967_295;

/** @returns {number} a whole number from 0 */
export const randomSeed = () => Math.floor(Math.random() * (MOST_SEED + 1));

/**
 * @param {number} seed a whole number from 0 to 2^32 - 1
 * @returns {() => number} numbers from 0 to below 1
 */
export function randomFrom(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** A copy in random order. */
export function shuffled(items, random) {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [copy[last], copy[other]] = [copy[other], copy[last]];
  }
  return copy;
}
