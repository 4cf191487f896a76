/**
 * The statistics of two arms: pure functions of numbers. What is no finite number is refused with its place; what
 * cannot be told is null, or has a `reason`; nothing is ever NaN. What is drawn at random has a seed.
 */
export { crossValidatedBandwidth, scottBandwidth } from './bandwidth.js';
export { cliffsDelta, deltaWord } from './effect.js';
export { holm } from './holm.js';
export { kde } from './kde.js';
export { normalCdf, normalQuantile } from './normal.js';
export { power, smallestEffect } from './power.js';
export { MOST_SEED, randomFrom, randomSeed, shuffled } from './random.js';
export { rankSum } from './ranksum.js';
export { pairedRatio, pairedShift, ratio, shift } from './shift.js';
export { signedRank } from './signedrank.js';
export {
  coefficientOfVariation,
  interquartileRange,
  mean,
  median,
  medianAbsoluteDeviation,
  quantile,
  standardDeviation,
} from './spread.js';
