/** The command `observe`. */

import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Options, optionLines, print, readOptions, UsageError } from '@millrace/base/command';
import { applicationArgs } from './application.js';
import { PRELOAD, runNode } from './child.js';
import { makeFolder, tellKept } from './observe-kept.js';
import { configFile, settingsOf } from './settings.js';

const OPTIONS: Options = {
  json: { value: 'FILE', meaning: 'writes the report there as JSON, instead of the text' },
  config: { value: 'FILE', meaning: 'instead of ./millrace.config.json' },
};

const USAGE = `Usage: millrace observe [options] FILE [arguments of the application]
       millrace observe [options] -- [options of Node.js] FILE [arguments]

Starts an application unchanged, measures it, and reports at its end on stderr
what Millrace would gain: writes and reads that would be gathered, requests that
would be refused or saved, what blocked the loop and for how long. SIGUSR2
prints the report so far.

  millrace observe app.js
  millrace observe --json report.json app.js --port 3000
  millrace observe -- --import tsx app.ts

${optionLines(OPTIONS)}

Give the application its usual load, then end it as usual, for instance with
Ctrl-C. Exit codes are those of millrace run.`;

/** Nothing else would show that it is at work. */
const BEGUN = 'millrace: observing; the report comes when the application ends, as with Ctrl-C';

/** `millrace observe`: the application, measured and left alone. */
export async function observe(argv: readonly string[]): Promise<void> {
  const given = readOptions(argv, OPTIONS);
  if (given.values.help) {
    print(USAGE);
    return;
  }
  const args = applicationArgs(given);
  const { json, config } = given.values as Record<string, string | undefined>;
  const env: NodeJS.ProcessEnv = { ...process.env, MILLRACE: 'observe' };
  if (json !== undefined) env.MILLRACE_OBSERVE_JSON = writable(json);
  if (config !== undefined) env.MILLRACE_CONFIG = configFile(config);
  settingsOf(env);
  if (json === undefined) console.error(BEGUN);
  const folder = makeFolder();
  if (folder === null) delete env.MILLRACE_OBSERVE_KEPT;
  else env.MILLRACE_OBSERVE_KEPT = folder;
  const code = await runNode([...PRELOAD, ...args], env);
  const isTold = folder === null || tellKept(folder);
  process.exitCode = code === 0 && !isTold ? 1 : code;
}

/** A mistake in the path would otherwise show only when the application has ended. */
function writable(path: string): string {
  const file = resolve(path);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--json is ${path}, which is a folder; it must be a file.`);
  }
  if (statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory()) return file;
  throw new UsageError(`--json is ${path}, but there is no folder ${dirname(path)}.`);
}
