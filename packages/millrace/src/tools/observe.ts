/**
 * The command `observe`: an application, measured and left alone. Each of its processes and threads reports at its end. One that cannot, as
 * after SIGKILL or a crash, has kept its report so far in a folder that is made here; what is left there in the end is reported by this
 * process.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Options, optionLines, print, readOptions, UsageError } from '@millrace/base/command';
import { applicationArgs, configFile, runApplication, settingsOf } from './application.js';
import { sawSomething } from './observe/format.js';
import { type KeptReport, keptIn, say, tell, terminal, writeJson } from './observe/output.js';

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

/** Line that shows that it is at work: nothing else would. */
const BEGUN = 'millrace: observing; the report comes when the application ends, as with Ctrl-C';

export async function observe(argv: readonly string[]): Promise<void> {
  const given = readOptions(argv, OPTIONS);
  if (given.values.help) return print(USAGE);
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
  const code = await runApplication(args, env);
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

/** A folder for what is kept; null where there is none to be had. */
function makeFolder(): string | null {
  try {
    return mkdtempSync(join(tmpdir(), 'millrace-observe-'));
  } catch {
    return null;
  }
}

/** Reports what is left in the folder, and removes it. Returns whether all of it could be written. */
function tellKept(folder: string): boolean {
  try {
    return keptIn(folder)
      .filter(({ report }) => report.application.thread === 0 || sawSomething(report))
      .map(tellOne)
      .every((isTold) => isTold);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tellOne({ report, json, ageMs }: KeptReport): boolean {
  const { pid } = report.application;
  const seconds = (ageMs / 1000).toFixed(1);
  const where = json === null ? '' : ` is in ${json}`;
  try {
    if (json !== null) writeJson(json, report);
  } catch (error) {
    say(`millrace observe: the report cannot be written: ${(error as Error).message}.\n`);
    return false;
  }
  const note = `\nmillrace observe: process ${pid} ended before it could report. What it had seen ${seconds} s ago${where || ' follows'}.\n`;
  return say(note) && (json !== null || tell(report, terminal()));
}
