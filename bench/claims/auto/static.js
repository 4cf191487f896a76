/** A static server in three arms: four pages of 4 KB, requested in turn. */
import { armsOf, hasAuto } from './arms.js';
import { applicationMetrics } from './metrics.js';
import { window } from './window.js';

/**
 * All of an experiment but its question.
 *
 * @param {string} app file in apps/
 */
export function staticServer(app) {
  const { control, auto, byHand } = armsOf(app, { isOn: hasAuto });
  return {
    control,
    treatment: [auto(), byHand('files')],
    load: {
      kind: 'script',
      file: new URL('./static-load.js', import.meta.url).href,
      connections: 50,
      ...window,
    },
    metrics: applicationMetrics('request'),
    rounds: { quick: 8, paper: 20 },
  };
}
