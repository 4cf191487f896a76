import { LEVEL } from './statistics.js';

/**
 * Judges whether a figure meets its target, which is the least `ahead` may be. The whole interval decides: where the target lies within
 * it, or there is none of 95 %, more rounds are needed to tell.
 *
 * @param {{ lo: number, hi: number, level: number }} figure
 * @param {number | undefined} target
 * @returns {'' | 'met' | 'not met' | 'open'} empty without a target
 */
export function verdict({ lo, hi, level }, target) {
  if (target === undefined) return '';
  if (level < LEVEL) return 'open';
  if (lo >= target) return 'met';
  return hi < target ? 'not met' : 'open';
}
