import { provide } from '../debian.js';
import { Failure } from './failure.js';

/**
 * A step that fetches Debian packages which only tests need, or a benchmark. Tests that miss one are
 * skipped by name; with CI=true the step fails instead.
 *
 * @param {string[]} names of packages
 * @param {string} [title]
 * @returns {import('./steps.js').Step}
 */
export function provision(names, title = 'programs that tests use') {
  return {
    title,
    run: async (quiet) => {
      const missing = [];
      for (const name of names) {
        await provide(name, quiet).catch((error) => missing.push(`${name}: ${error.message}`));
      }
      if (missing.length > 0 && process.env.CI === 'true') throw new Failure(missing.join('; '));
      const there = names.filter((name) => !missing.some((line) => line.startsWith(`${name}:`)));
      return { note: there.join(', ') || 'none', details: missing };
    },
  };
}
