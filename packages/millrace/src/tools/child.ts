/** A Node.js process in the place of this one: same terminal, pipes and signals, and its exit code. */
import { type StdioOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { Refusal } from '@millrace/base/command';
import type { Listening } from './port.js';

/**
 * The options of node that load `millrace/auto` before the application. As CommonJS: on Node.js 20 any `--import` sends
 * the application's main file through the loader of ES modules, where `module.parent` and `module.id` differ and files
 * with unknown extensions are refused; a start also takes about 10 ms longer. Worker threads and forked processes get these
 * options from it.
 */
export const PRELOAD: readonly string[] = [
  '--require',
  fileURLToPath(new URL('../auto/start.cjs', import.meta.url)),
];

/** Those that the keys of a terminal send to all processes in its foreground. */
const KEYS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/** SIGUSR1 starts the inspector, that of the application as well. */
const FORWARDED: readonly NodeJS.Signals[] = [...KEYS, 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];

/** The file descriptor under which a socket is handed to the child. */
export const HANDED_DOWN = 3;

/**
 * Runs Node.js with the arguments until it ends.
 *
 * Signals are passed on; those of a terminal's keys are not, where the child gets them itself: many applications take a
 * second SIGINT as an order to drop everything.
 *
 * @param listening its socket goes to the child as {@link HANDED_DOWN}, and is closed here. On Windows the child listens anew, and somebody
 *   else may have the port by then
 * @returns its exit code, or 128 and the number of the signal that ended it
 * @throws {Refusal} it cannot be started
 */
export function runNode(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  listening: Listening | null = null,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const forward = (signal: NodeJS.Signals) => {
      if (KEYS.includes(signal) && isForeground()) return;
      child.kill(signal);
    };
    const signals = process.platform === 'win32' ? KEYS.slice(0, 1) : FORWARDED;
    // Before the child is there: a signal that ended this process alone would leave the child behind.
    for (const signal of signals) process.on(signal, forward);
    const { fd = null } = listening ?? {};
    const stdio: StdioOptions = ['inherit', 'inherit', 'inherit', ...(fd === null ? [] : [fd])];
    const child = spawn(process.execPath, args, { stdio, env });
    listening?.close();
    child.once('error', (error) =>
      reject(new Refusal(`Node.js cannot be started: ${error.message}.`)),
    );
    child.once('exit', (code, signal) => {
      for (const each of signals) process.off(each, forward);
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
    });
  });
}

/**
 * Whether what a terminal's keys send reaches this process and its children alike: they are the terminal's foreground
 * group. On systems other than Linux: whether there is a terminal at all.
 */
function isForeground(): boolean {
  if (process.platform !== 'linux') return [0, 1, 2].some((descriptor) => isatty(descriptor));
  try {
    return ofStat(readFileSync('/proc/self/stat', 'utf8'));
  } catch {
    return false;
  }
}

/** The name of the program may have blanks and parentheses; after it come state, parent, group, session, terminal, its group. */
function ofStat(stat: string): boolean {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[2] === fields[5];
}
