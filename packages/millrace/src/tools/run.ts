/** The command `run`. */

import { type Given, type Options, optionLines, print, readOptions } from '@millrace/base/command';
import { switchesOf } from '../auto/settings.cjs';
import { applicationArgs } from './application.js';
import { PRELOAD, runNode } from './child.js';
import { dashboardPlace, type Place } from './dashboard.js';
import { switches } from './features.js';
import { configFile, settingsOf } from './settings.js';

const OPTIONS: Options = {
  with: { value: 'NAMES', meaning: 'switches features on that are off by default: net, guard' },
  without: { value: 'NAMES', meaning: 'switches features off: ws, fs, reads, monitor' },
  config: { value: 'FILE', meaning: 'instead of ./millrace.config.json' },
  port: { value: 'N', meaning: "the dashboard's (7117, or a free one if that is taken)" },
  host: { value: 'ADDRESS', meaning: "the dashboard's (127.0.0.1); others need a token" },
  token: { value: 'TEXT', meaning: 'required by the dashboard (random if one is needed)' },
  'no-dashboard': { meaning: 'serves none' },
};

const USAGE = `Usage: millrace run [options] FILE [arguments of the application]
       millrace run [options] -- [options of Node.js] FILE [arguments]

Starts an unchanged application with millrace/auto, and serves a dashboard. The
address of the dashboard is printed on stderr.

  millrace run app.js
  millrace run --with net,guard app.js --port 3000
  millrace run -- --import tsx app.ts
  millrace run -- --max-old-space-size=512 app.js

${optionLines(OPTIONS)}

Options after FILE belong to the application. Its exit code becomes that of the
command, 128 + n after signal n. Exit codes of the command itself: 1 the
application cannot be started this way, 2 wrong command line.

Without this command, as in production: node --import millrace/auto app.js`;

/** `millrace run`: the application with `millrace/auto` and, unless it is not wanted, the dashboard. */
export async function run(argv: readonly string[]): Promise<void> {
  const given = readOptions(argv, OPTIONS);
  if (given.values.help) {
    print(USAGE);
    return;
  }
  const args = applicationArgs(given);
  const { env, listening } = await placeOf(given);
  process.exitCode = await runNode([...PRELOAD, ...args], env, listening);
}

async function placeOf({
  values,
}: Given): Promise<Place | { env: NodeJS.ProcessEnv; listening: null }> {
  const text = (name: string) => values[name] as string | undefined;
  const { MILLRACE_FEED, MILLRACE_FEED_TOKEN, MILLRACE_FEED_PID, ...others } = process.env;
  const { MILLRACE_DASHBOARD_FD, ...env } = others;
  const wanted = switches(env.MILLRACE, text('with'), text('without'));
  if (wanted !== undefined) env.MILLRACE = wanted;
  const config = text('config');
  if (config !== undefined) env.MILLRACE_CONFIG = configFile(config);
  if (values['no-dashboard']) {
    env.MILLRACE = env.MILLRACE ? `${env.MILLRACE},no-dashboard` : 'no-dashboard';
  }
  const settings = settingsOf(env);
  const isWanted = settings.mode !== 'off' && !switchesOf(env).includes('no-dashboard');
  if (!isWanted) return { env, listening: null };
  const wishes = { host: text('host'), port: text('port'), token: text('token') };
  const place = await dashboardPlace(wishes, settings.dashboard, env);
  return { ...place, env: { ...env, ...place.env } };
}
