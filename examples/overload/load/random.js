/** Numbers in [0, 1) that the seed decides (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The time to the next arrival of a Poisson process, in the unit of 1 / rate. */
export function gap(random, rate) {
  return -Math.log(1 - random()) / rate;
}

/** An index, by the shares, which add up to 1. */
export function pick(random, shares) {
  const drawn = random();
  let reached = 0;
  for (const [at, share] of shares.entries()) {
    reached += share;
    if (drawn < reached) return at;
  }
  // The shares may add up to a little less than 1.
  return shares.length - 1;
}
