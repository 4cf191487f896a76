/**
 * Amdahl's law: how many times faster a task gets when a share of it can be done by several at once.
 *
 *     1 / ((1 - P) + P / N)
 *
 * @param {number} share P, of the time on one processor: 0 to 1
 * @param {number} processors N, from 1
 * @returns {number} at most N, and at most 1 / (1 - P)
 * @throws {RangeError}
 */
export function speedup(share, processors) {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`share ${share}: must be from 0 to 1`);
  atLeastOne('processors', processors);
  return 1 / (1 - share + share / processors);
}

/**
 * The law the other way round (Karp and Flatt): the share that explains a measured speed-up.
 *
 * @param {number} measured speed-up, above 0
 * @param {number} processors above 1
 * @returns {number} above 1 when it is faster than that many processors allow, below 0 when it is slower than one
 * @throws {RangeError}
 */
export function parallelShare(measured, processors) {
  if (!(measured > 0)) throw new RangeError(`measured ${measured}: must be above 0`);
  atLeastOne('processors', processors);
  if (processors === 1) throw new RangeError('processors 1: nothing can be told from one');
  return (1 - 1 / measured) / (1 - 1 / processors);
}

function atLeastOne(name, value) {
  if (!(value >= 1 && Number.isFinite(value))) {
    throw new RangeError(`${name} ${value}: must be a number from 1`);
  }
}
