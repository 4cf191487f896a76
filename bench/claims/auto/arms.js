/**
 * Applications as they are, in two ways: `node app.js`, and the same with `millrace/auto` preloaded; where there is something to
 * gain, also with a preload of some lines from by-hand/, which does for this one application what can be done in the simplest
 * way. Nothing in apps/ knows of Millrace, except for a line in users.js that an arm asks for.
 */
import { fileURLToPath } from 'node:url';

const AUTO = import.meta.resolve('millrace/auto');

/** The name of the arms with a preload of by-hand/, and the line that each of these prints. */
export const BY_HAND = 'by hand';

/** Switches come from the arm alone, and not from who runs the lab. */
const UNSET = { MILLRACE: '', MILLRACE_CONFIG: '', MILLRACE_DASHBOARD: '', NODE_ENV: 'production' };

/**
 * The arms of an application.
 *
 * @param {string | (() => string)} app file in apps/, or a function that gives the path of another one when it is needed
 * @param {object} options
 * @param {(run: import('../../../packages/lab/experiment/measure.js').Run) => boolean} options.isOn with auto
 * @param {(params: object) => string[]} [options.args] of the application, in all arms
 * @param {(params: object) => Record<string, string>} [options.env] of it
 * @param {RegExp} [options.ready] as in an arm
 * @param {string} [options.health] as in an arm
 */
export function armsOf(app, { isOn, args = () => [], env = () => ({}), ...server }) {
  const path = () => (typeof app === 'string' ? pathOf(`apps/${app}`) : app());
  const arm = (name, flags, switches) => ({
    name,
    command: (params) => [process.execPath, ...flags, path(), ...args(params)],
    env: (params) => ({ ...UNSET, ...switches, ...env(params) }),
    ...server,
    isOn,
  });
  return {
    control: arm('node app.js', [], {}),
    /** @param {string} name @param {Record<string, string>} env that changes the application @param {object} changes of the arm */
    changed: (name, env, changes) => ({ ...arm(name, [], env), ...changes }),
    /** @param {string} [switches] value of MILLRACE @param {object} [changes] of the arm */
    auto: (switches = '', changes = {}) => ({
      ...arm(switches ? `auto, MILLRACE=${switches}` : 'auto', ['--import', AUTO], {
        MILLRACE: switches,
      }),
      ...changes,
    }),
    /** @param {string} preload name of a file in by-hand/ @param {object} [changes] of the arm */
    byHand: (preload, changes = {}) => ({
      ...arm(BY_HAND, ['--import', pathOf(`by-hand/${preload}.mjs`)], {}),
      isOn: ({ output }) => output.split('\n').includes(BY_HAND),
      ...changes,
    }),
  };
}

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Reports whether auto was there, whatever it had to act on. */
export const hasAuto = ({ probe }) => Object.hasOwn(probe?.millrace ?? {}, 'auto');

/**
 * Reports whether objects of these kinds have done something in the measured window, by their own counters.
 *
 * @param {string} kind as `install`
 * @param {string} counter as `frames`
 */
export const hasCounted =
  (kind, counter) =>
  ({ probe }) =>
    (probe?.millrace[kind]?.[counter] ?? 0) > 0;
