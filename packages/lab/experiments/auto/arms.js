/**
 * Applications as they are, in two ways: `node app.js`, and the same with `millrace/auto` preloaded. Nothing in apps/ knows
 * of Millrace.
 */
import { fileURLToPath } from 'node:url';

const AUTO = import.meta.resolve('millrace/auto');

/** Switches come from the arm alone, and not from who runs the lab. */
const UNSET = { MILLRACE: '', MILLRACE_CONFIG: '', MILLRACE_DASHBOARD: '', NODE_ENV: 'production' };

/**
 * The arms of an application.
 *
 * @param {string} app file in apps/
 * @param {object} options
 * @param {(run: import('../../experiment/measure.js').Run) => boolean} options.isOn
 * @param {(params: object) => string[]} [options.args] of the application, in all arms
 * @param {(params: object) => Record<string, string>} [options.env] of it
 */
export function armsOf(app, { isOn, args = () => [], env = () => ({}) }) {
  const file = fileURLToPath(new URL(`apps/${app}`, import.meta.url));
  const arm = (name, flags, switches) => ({
    name,
    command: (params) => [process.execPath, ...flags, file, ...args(params)],
    env: (params) => ({ ...UNSET, ...switches, ...env(params) }),
    isOn,
  });
  return {
    control: arm('node app.js', [], {}),
    /** @param {string} [switches] value of MILLRACE @param {object} [changes] of the arm */
    auto: (switches = '', changes = {}) => ({
      ...arm(switches ? `auto, MILLRACE=${switches}` : 'auto', ['--import', AUTO], {
        MILLRACE: switches,
      }),
      ...changes,
    }),
  };
}

/**
 * Whether objects of these kinds have done something in the measured window, by their own counters.
 *
 * @param {string} kind as `install`
 * @param {string} counter as `frames`
 */
export const hasCounted =
  (kind, counter) =>
  ({ probe }) =>
    (probe?.millrace[kind]?.[counter] ?? 0) > 0;
