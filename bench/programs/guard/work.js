/**
 * CPU work of a handler: a fixed amount of work, not a wait for the clock. A handler that
 * spins until the clock has moved would call time that the machine gave to others its own work, and
 * would hide what a server costs itself; equal work takes longer then, which capacity, measured
 * beside each round, shows.
 */

/** Steps of a shift register (xorshift32); the result depends on every one of them. */
export function work(steps) {
  let state = 0x9e3779b9 | 0;
  for (let i = 0; i < steps; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  return state >>> 0;
}

/** Returns the steps per millisecond here: the upper quartile of many tries, as other users of the CPU only slow one down. */
export function stepsPerMs() {
  const [steps, tries] = [2_000_000, 50];
  const rates = [];
  for (let i = 0; i < tries; i++) {
    const start = performance.now();
    work(steps);
    rates.push(steps / (performance.now() - start));
  }
  rates.sort((a, b) => a - b);
  return Math.round(rates[Math.floor(tries * 0.75)]);
}
