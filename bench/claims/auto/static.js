/** A server of pages in three arms. */
import { armsOf, hasAuto } from './arms.js';
import { applicationMetrics } from './metrics.js';
import { window } from './window.js';

/**
 * Returns all of an experiment but its question.
 *
 * @param {string} app file in apps/
 * @param {object} [options]
 * @param {Parameters<typeof armsOf>[1]['isOn']} [options.isOn]
 * @param {string} [options.load] file beside this one; default: four pages of 4 KB, requested in turn
 * @param {number} [options.connections]
 * @param {number} [options.quick] rounds
 */
export function pageServer(
  app,
  { isOn = hasAuto, load = 'static-load', connections = 50, quick = 8 } = {},
) {
  const { control, auto, byHand } = armsOf(app, { isOn });
  return {
    control,
    treatment: [auto(), byHand('files')],
    load: {
      kind: 'script',
      file: new URL(`./${load}.js`, import.meta.url).href,
      connections,
      ...window,
    },
    metrics: applicationMetrics('request'),
    rounds: { quick, paper: 20 },
  };
}
