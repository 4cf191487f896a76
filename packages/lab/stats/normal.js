/** The standard normal distribution: mean 0, standard deviation 1. */

const ROOT_2PI = Math.sqrt(2 * Math.PI);

/** Point from which on the tail is a continued fraction, and below which the area is a series; both are exact at 2. */
const TAIL_FROM = 2;

/** Terms of the continued fraction, enough for all digits from {@link TAIL_FROM} on. */
const TAIL_TERMS = 120;

/**
 * The share of the distribution below z. The series is Marsaglia's ("Evaluating the normal distribution", 2004), the
 * continued fraction of the tail Laplace's.
 *
 * @param {number} z infinite is allowed
 * @returns {number} 0 to 1; the relative error is at most 1e-12, also far out in the lower tail
 * @throws {TypeError} when z is NaN or no number
 */
export function normalCdf(z) {
  if (typeof z !== 'number' || Number.isNaN(z)) throw new TypeError(`z ${z}: must be a number`);
  if (z === Number.NEGATIVE_INFINITY) return 0;
  if (z < -TAIL_FROM) return density(z) * millsRatio(-z);
  return z > TAIL_FROM ? 1 - normalCdf(-z) : 0.5 + center(z);
}

/**
 * The z below which a share of the distribution lies: Newton's method on the logarithm of the share, which is
 * concave: from a start that lies below the solution it cannot overshoot.
 *
 * @param {number} share 0 to 1
 * @returns {number} -Infinity for 0, Infinity for 1; the absolute error is at most 1e-13
 * @throws {RangeError} when the share is out of range
 */
export function normalQuantile(share) {
  if (!(typeof share === 'number' && share >= 0 && share <= 1)) {
    throw new RangeError(`share ${share}: must be a number from 0 to 1`);
  }
  if (share > 0.5) return -normalQuantile(1 - share);
  if (share === 0) return Number.NEGATIVE_INFINITY;
  const target = Math.log(share);
  // The tail below -z is at most half of exp(-z²/2).
  let z = -Math.sqrt(Math.max(0, -2 * (target + Math.LN2)));
  for (;;) {
    const ratio = z < -TAIL_FROM ? millsRatio(-z) : (0.5 + center(z)) / density(z);
    const reached = Math.log(ratio / ROOT_2PI) - (z * z) / 2;
    const next = z + (target - reached) * ratio;
    if (!(next > z + 1e-15)) return next;
    z = next;
  }
}

/**
 * A random number of this distribution (Box and Muller, 1958).
 *
 * @param {() => number} random from 0 to below 1
 */
export function gaussian(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

const density = (z) => Math.exp((-z * z) / 2) / ROOT_2PI;

/** The share between 0 and z. */
function center(z) {
  let term = z;
  let sum = 0;
  for (let odd = 3; sum + term !== sum; odd += 2) {
    sum += term;
    term *= (z * z) / odd;
  }
  return density(z) * sum;
}

/** The share above z, as a multiple of the density at z. */
function millsRatio(z) {
  let rest = z;
  for (let term = TAIL_TERMS; term > 0; term -= 1) rest = z + term / rest;
  return 1 / rest;
}
