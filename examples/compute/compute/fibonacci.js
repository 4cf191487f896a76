/** Ways to F(n) and the number after it. Both ask `stop` now and then, which throws when nobody wants the result. */

/** Additions between two looks at `stop`. */
const LOOK_EVERY = 4096;

/**
 * The paper's way: n additions, one after the other. Its cost grows with the square of n, as the numbers grow, too. No two
 * of the additions can be done at the same time: each needs the result of the one before.
 */
function byAddition(n, stop) {
  let a = 0n;
  let b = 1n;
  for (let done = 0; done < n; done += 1) {
    if (done % LOOK_EVERY === 0) stop();
    [a, b] = [b, a + b];
  }
  return [a, b];
}

/** Fast doubling: F(2k) = F(k) (2 F(k+1) − F(k)) and F(2k+1) = F(k)² + F(k+1)², once for each binary digit of n. */
function byDoubling(n, stop) {
  let a = 0n;
  let b = 1n;
  for (const digit of n.toString(2)) {
    stop();
    const even = a * (2n * b - a);
    const odd = a * a + b * b;
    [a, b] = digit === '0' ? [even, odd] : [odd, even + odd];
  }
  return [a, b];
}

const WAYS = { paper: byAddition, doubling: byDoubling };

export const ALGORITHMS = Object.keys(WAYS);

/** F(n) and F(n+1). @param {'paper' | 'doubling'} algorithm */
export const fibonacciPair = (n, algorithm, stop = () => {}) => WAYS[algorithm](n, stop);
