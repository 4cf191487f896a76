/** Seeds for a random test: a few, or as many as FUZZ_SECONDS allows. A failing test names its seed. */
export function* seeds(few) {
  const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
  const end = performance.now() + seconds * 1000;
  for (let seed = 1; seed <= few || performance.now() < end; seed++) yield seed;
}

/** A small deterministic generator of numbers (mulberry32); `random(n)` is an integer below n. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}
