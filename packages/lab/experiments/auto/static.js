/** A static server with auto and without: four pages of 4 KB, requested in turn. */
import { armsOf } from './arms.js';
import { applicationMetrics } from './metrics.js';

/**
 * All of an experiment but its question.
 *
 * @param {string} app file in apps/
 */
export function staticServer(app) {
  const { control, auto } = armsOf(app, {
    isOn: ({ probe }) => Object.hasOwn(probe?.millrace ?? {}, 'monitor'),
  });
  return {
    control,
    treatment: auto(),
    load: {
      kind: 'script',
      file: new URL('./static-load.js', import.meta.url).href,
      connections: 50,
      // Code that is compiled meanwhile costs as much as what is measured.
      warmup: ({ quick }) => (quick ? 2.5 : 5),
      seconds: ({ quick }) => (quick ? 1 : 5),
    },
    metrics: applicationMetrics('request'),
    rounds: { full: 20, quick: 8 },
  };
}
