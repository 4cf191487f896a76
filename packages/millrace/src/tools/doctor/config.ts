import { relative } from 'node:path';
import { featureNames, readSettings } from '../../auto/settings.cjs';
import { type Finding, ok, type Place } from './finding.js';

/** What `millrace/auto` would do in this folder with this environment. */
export function config({ cwd, env }: Place): Finding {
  const name = 'settings';
  try {
    const settings = readSettings(env, cwd);
    const { mode, file } = settings;
    const from = file === null ? 'no millrace.config.json' : relative(cwd, file);
    const switches = env.MILLRACE ? `MILLRACE=${env.MILLRACE}` : 'MILLRACE not set';
    const on = featureNames.filter((feature) => settings[feature] !== false);
    const doing = { act: `on: ${on.join(', ')}`, observe: 'observes only', off: 'all off' }[mode];
    return ok(name, `${from}, ${switches}; ${doing}`);
  } catch (error) {
    return {
      name,
      state: 'warning',
      found: (error as Error).message,
      means: 'an application with millrace/auto does not start: exit code 9',
      fix: 'correct it; config.schema.json of this package says what is allowed',
    };
  }
}
