/**
 * RSA Fibonacci, as the paper calls it: F(n) to the power of an exponent, modulo another large Fibonacci number, F(2k).
 *
 * A chain of squarings cannot be divided: each needs the one before. The modulus can, as that of RSA is by those who know its
 * factors: F(2k) = F(k) L(k), where L are the Lucas numbers, and the two have no common factor unless 3 divides k. So the
 * power is taken modulo each, and the Chinese remainder theorem makes one result of two.
 */
import { fibonacciPair } from './fibonacci.js';

/**
 * Which k. 2k is about one and a half times n: near n it would be no work at all, because F(n)² = F(2k − n)², up to its sign,
 * modulo F(2k) (Catalan's identity).
 */
export function halfIndex(n) {
  const k = Math.ceil((n * 3) / 4);
  return k % 3 === 0 ? k + 1 : k;
}

/** F(k) and L(k): the factors of F(2k), of about the same size. */
export function factors(k, algorithm, stop) {
  const [f, next] = fibonacciPair(k, algorithm, stop);
  return { f, l: 2n * next - f };
}

/** base to the power of exponent, modulo modulus: a squaring for each binary digit, and a product for each that is 1. */
export function power(base, exponent, modulus, stop = () => {}) {
  const once = base % modulus;
  let result = once;
  for (const digit of exponent.toString(2).slice(1)) {
    stop();
    result = (result * result) % modulus;
    if (digit === '1') result = (result * once) % modulus;
  }
  return result;
}

/**
 * The number below F(2k) that is `modF` modulo F(k) and `modL` modulo L(k). No Euclid is needed for the inverse:
 * 5 F(k)² = L(k)² − 4 (−1)^k, so modulo L(k) the inverse of F(k) is 5 F(k) divided by −4 (−1)^k.
 */
export function combine({ modF, modL, f, l, k }) {
  const difference = positive(modL - modF, l);
  const product = (((5n * f) % l) * difference) % l;
  let quotient = k % 2 === 0 ? positive(-product, l) : product;
  // L(k) is odd, so that of x and x + L(k) one can be halved.
  for (let halved = 0; halved < 2; halved += 1) {
    quotient = (quotient % 2n === 0n ? quotient : quotient + l) / 2n;
  }
  return modF + f * quotient;
}

const positive = (x, modulus) => ((x % modulus) + modulus) % modulus;
