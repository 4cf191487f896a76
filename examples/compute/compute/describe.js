import { createHash } from 'node:crypto';

/** Number of digits that are shown of each end of a number. */
const SHOWN = 20;

/**
 * Describes a number that may have a million digits. Writing a number out in decimal costs more than to compute it by
 * doubling, so this belongs to where it was computed.
 *
 * @param {bigint} number not negative
 * @param {{ full?: boolean }} [options] with all of its digits
 */
export function describe(number, { full = false } = {}) {
  const text = number.toString();
  return {
    digits: text.length,
    first: text.slice(0, SHOWN),
    last: text.slice(-SHOWN),
    sha256: createHash('sha256').update(text).digest('hex'),
    ...(full ? { value: text } : {}),
  };
}
