import { Failure } from './failure.js';
import { strict } from './skip.js';

/**
 * The result of a step that ran tests.
 *
 * @param {object} counts
 * @param {number} counts.passed
 * @param {number} counts.failed
 * @param {string[]} counts.skippedNames with the reasons
 * @param {string[]} [counts.failedNames] with their files
 * @param {number} [counts.skipped] where some have no name
 * @param {string[]} [counts.said] lines to show under the step
 * @returns {import('./steps.js').Result}
 */
export function counted({
  passed,
  failed,
  skippedNames,
  failedNames = [],
  skipped = skippedNames.length,
  said = [],
}) {
  if (passed + failed + skipped === 0) throw new Failure('not one test ran');
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`${failed} FAILED`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  return {
    note: parts.join(', '),
    passed,
    failed: strict ? failed + skipped : failed,
    skipped: strict ? 0 : skipped,
    failures: failedNames,
    details: [
      ...skippedNames.map((name) => `skipped${strict ? ', a failure in CI' : ''}: ${name}`),
      ...said,
    ],
  };
}
