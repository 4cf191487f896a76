/**
 * The application that `run` and `observe` start. What can be wrong with its command line, its settings or a path is reported before
 * anything is started. Then Node.js runs it in the place of this process: same terminal, pipes and signals, and its exit code.
 * `millrace/auto` is loaded before it.
 */
import { type StdioOptions, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { absent, type Given, Refusal, UsageError } from '@millrace/base/command';
import type { Settings } from '../auto/feature.cjs';
import { readSettings } from '../auto/settings.cjs';

/** A port that this process listens on, for the application that takes the socket over. */
export interface Listening {
  readonly port: number;
  /** The file descriptor of the socket; null on Windows, where no other process can inherit it. */
  readonly fd: number | null;
  /** Closes the socket here. */
  close(): void;
}

/** The file descriptor under which a socket is handed to the application. */
export const HANDED_DOWN = 3;

/**
 * The options of node that load `millrace/auto`. As CommonJS: on Node.js 20 any `--import` sends
 * the application's main file through the loader of ES modules, where `module.parent` and `module.id` differ and files
 * with unknown extensions are refused; a start also takes about 10 ms longer. Worker threads and forked processes get these
 * options from it.
 */
const PRELOAD = ['--require', fileURLToPath(new URL('../auto/start.cjs', import.meta.url))];

/** Signals that the keys of a terminal send to all processes in its foreground. */
const KEYS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/** SIGUSR1 starts the inspector, that of the application as well. */
const FORWARDED: readonly NodeJS.Signals[] = [...KEYS, 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];

/**
 * The arguments for node: `FILE [args]`, or what is given after `--`. A file is looked for as node does.
 *
 * @throws {UsageError} there is no file, or it is not there, or this Node.js needs a loader for it
 */
export function applicationArgs({ rest, isCut }: Given): readonly string[] {
  const [file] = rest;
  if (file === undefined) {
    throw new UsageError(
      isCut
        ? 'nothing follows --; add options of Node.js and a file.'
        : 'FILE, the file to start, is missing.',
    );
  }
  // Only node knows which of its options take a value.
  if (isCut) return rest;
  if (!isFound(file)) throw absent(file, 'a folder without an index.js');
  if (needsLoader(file)) {
    throw new UsageError(
      `${file} is TypeScript, for which Node.js ${process.versions.node} needs a loader: -- --import tsx ${file}.`,
    );
  }
  return rest;
}

function isFound(file: string): boolean {
  try {
    createRequire(join(process.cwd(), 'package.json')).resolve(resolve(file));
    return true;
  } catch {
    return false;
  }
}

/** Newer releases of Node.js strip the types themselves. */
function needsLoader(file: string): boolean {
  const { typescript } = process.features as { typescript?: unknown };
  const hasLoader = /(^|\s)("?)(-r|--require|--import|--loader|--experimental-loader)\b/.test(
    process.env.NODE_OPTIONS ?? '',
  );
  return ['.ts', '.mts', '.cts', '.tsx'].includes(extname(file)) && !typescript && !hasLoader;
}

/**
 * Returns the settings that an application will have with this environment.
 *
 * @throws {UsageError} a switch or the configuration is mistaken
 */
export function settingsOf(env: NodeJS.ProcessEnv): Settings {
  try {
    return readSettings(env);
  } catch (error) {
    throw new UsageError(`${(error as Error).message}.`);
  }
}

/**
 * The absolute path of a file for `--config`.
 *
 * @throws {UsageError} it is not there
 */
export function configFile(path: string): string {
  const file = resolve(path);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  throw new UsageError(`there is no file ${path} for --config.`);
}

/**
 * Runs the application until it ends. Signals are passed on. Those of a terminal's keys are not, where the application gets them itself:
 * many take a second SIGINT as an order to drop everything.
 *
 * @param args for node, from {@link applicationArgs}
 * @param listening its socket goes to the application as {@link HANDED_DOWN}, and is closed here. On Windows the application listens anew,
 *   and somebody else may have the port by then
 * @returns its exit code, or 128 and the number of the signal that ended it
 * @throws {Refusal} it cannot be started
 */
export function runApplication(
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
    const child = spawn(process.execPath, [...PRELOAD, ...args], { stdio, env });
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
 * Reports whether what a terminal's keys send reaches this process and its children alike: they are the terminal's foreground
 * group. On systems other than Linux: whether there is a terminal at all.
 */
function isForeground(): boolean {
  if (process.platform !== 'linux') return [0, 1, 2].some((descriptor) => isatty(descriptor));
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program may have blanks and parentheses; after it come state, parent, group, session, terminal, its group.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[2] === fields[5];
  } catch {
    return false;
  }
}
