/**
 * The report of observe mode as plain data, and what follows from it: the changes that may help, and the commands for a shell that try one
 * and prove what it brings. What makes somebody wait comes before what saves work, then the change with the larger share of its kind. Each
 * can be tried by itself. How the application was started is read once, when the observation begins: an application may change it.
 */
import { relative } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import type { FilesReport } from './files.js';
import type { FramesReport } from './frames.js';
import type { LoopReport } from './loop.js';
import type { RequestsReport } from './requests.js';
import type { ThreadpoolReport } from './threadpool.js';
import type { WritesReport } from './writes.js';

/** All that was seen, as plain data. */
export interface Report {
  /** The version of this shape. */
  version: 1;
  application: ApplicationReport;
  /** How long was observed. */
  seconds: number;
  writes: WritesReport;
  frames: FramesReport;
  files: FilesReport;
  requests: RequestsReport;
  loop: LoopReport;
  threadpool: ThreadpoolReport;
}

/** The application: how it was started, and for how long it was watched. */
export interface ApplicationReport {
  pid: number;
  /** 0 is the main thread. */
  thread: number;
  node: string;
  /** Options of Node.js, without those that load Millrace. */
  execArgv: string[];
  /** Path from the working directory; null when there is none, as with --eval. */
  file: string | null;
  args: string[];
  /** The environment variable PORT. */
  port: string | null;
}

export function application(): ApplicationReport {
  const [, file, ...args] = process.argv;
  return {
    pid: process.pid,
    thread: isMainThread ? 0 : threadId,
    node: process.version,
    execArgv: withoutMillrace(process.execArgv),
    file: file === undefined ? null : relativePath(file),
    args,
    port: process.env.PORT ?? null,
  };
}

const loaders = ['--import', '--require', '-r'];

function withoutMillrace(given: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < given.length; i++) {
    const option = given[i]!;
    const takesNext = loaders.includes(option);
    const value = takesNext ? (given[i + 1] ?? '') : option;
    const isLoader = takesNext || loaders.some((each) => option.startsWith(`${each}=`));
    if (takesNext) i++;
    if (isLoader && isMillrace(value)) continue;
    kept.push(option, ...(takesNext ? [value] : []));
  }
  return kept;
}

/** By name, or by the path of this package. */
function isMillrace(value: string): boolean {
  return /millrace\/auto/.test(value) || /dist\/auto\/(index\.js|start\.cjs)$/.test(value);
}

/** Relative to the working directory, if there is one and that is shorter. */
export function relativePath(file: string): string {
  try {
    const path = relative(process.cwd(), file);
    return path.length < file.length ? path : file;
  } catch {
    return file;
  }
}

/** One change to try. `auto` is what `millrace/auto` has on by default; the others are switched on by name. */
type Change =
  | { readonly name: 'auto' | 'net' | 'guard'; readonly why: string }
  | { readonly name: 'threadpool'; readonly size: number; readonly why: string };

/** Less than this, in total and as a share of what was counted, is not worth a try. */
const least = 10;
const leastShare = 0.05;
const mostThreads = 128;

/** The changes that may help, the first one first. */
export function advice({ writes, frames, files, requests, threadpool }: Report): Change[] {
  const waits: [share: number, change: Change][] = [];
  const { share, size } = threadpool;
  if (share >= leastShare && size < mostThreads) {
    const why = 'jobs waited for one of the threads';
    waits.push([share, { name: 'threadpool', size: Math.min(mostThreads, size * 2), why }]);
  }
  if (requests.wouldShed > 0) {
    const why = 'requests waited behind others for too long';
    waits.push([requests.wouldShed / requests.requests, { name: 'guard', why }]);
  }
  const savings: [saved: number, change: Change][] = [];
  const { encodings, sends } = savedFrames(frames);
  const { reads, appends } = savedFiles(files);
  const isWs = isWorthIt(encodings + sends, 2 * frames.frames);
  const isFs = isWorthIt(reads + appends, files.reads + files.appends);
  if (isWs || isFs) {
    const saved = (isWs ? encodings + sends : 0) + (isFs ? reads + appends : 0);
    const what = [isWs && 'frames', isFs && 'files'].filter(Boolean).join(' and ');
    savings.push([saved, { name: 'auto', why: `${what} can be gathered` }]);
  }
  if (isWorthIt(writes.saved, writes.writes)) {
    savings.push([writes.saved, { name: 'net', why: 'socket writes can be gathered' }]);
  }
  return [waits, savings].flatMap((each) => each.sort(([a], [b]) => b - a).map(([, it]) => it));
}

export function savedFrames({ frames, contents, writes }: Report['frames']) {
  return { encodings: frames - contents, sends: frames - writes };
}

export function savedFiles({ reads, readTicks, appends, commits }: Report['files']) {
  return { reads: reads - readTicks, appends: appends - commits };
}

const isWorthIt = (saved: number, all: number) => saved >= least && saved / all >= leastShare;

interface Commands {
  /** Starts the application with the change; null when it is not known how it is started. */
  run: string | null;
  /** Compares both ways; null also when there is no server of http or ws that it could ask. */
  experiment: string | null;
}

/** Switches of what is on by default, so that a feature can be tried alone. */
const nothingElse = ['no-ws', 'no-fs', 'no-reads'];

/** @param given how the application is started, as `node app.js`; otherwise what the report knows of it */
export function commands(report: Report, change: Change, given?: string): Commands {
  const { application } = report;
  const fixed = given ?? commandOf(application, null);
  if (fixed === null) return { run: null, experiment: null };
  const run = changed(fixed, change);
  const load = loadOf(report);
  if (load === null) return { run, experiment: null };
  const control = given ?? commandOf(application, load.port)!;
  const treatment = changed(control, change);
  const shown = change.name === 'threadpool' ? threads(change.size) : null;
  const lines = [
    'npx millrace experiment',
    `--control ${quoted(control)}`,
    // The lab has to see which arm it is, and Node.js says nothing of its threads.
    `--treatment ${quoted(shown === null ? treatment : `echo ${shown}; ${treatment}`)}`,
    ...(shown === null ? [] : [`--proof ${shown}`]),
    load.options(isPlaceable(control) ? '{port}' : `${load.port}`),
  ];
  return { run, experiment: lines.join(' \\\n  ') };
}

const isPlaceable = (command: string) => command.includes('{port}');

/** With `{port}` in place of its port, if that was an argument or the environment variable PORT. */
function commandOf(application: ApplicationReport, port: number | null): string | null {
  const { file, args, execArgv } = application;
  if (file === null) return null;
  const placed = args.map((arg) => placedIn(arg, port));
  const command = ['node', ...execArgv, file, ...placed].map(quoted).join(' ');
  const isOfVariable = port !== null && application.port === `${port}` && !isPlaceable(command);
  return isOfVariable ? `PORT={port} ${command}` : command;
}

function placedIn(arg: string, port: number | null): string {
  if (port === null) return arg;
  return arg.replace(new RegExp(`(^|[:=])${port}$`), '$1{port}');
}

const threads = (size: number) => `UV_THREADPOOL_SIZE=${size}`;

function changed(command: string, change: Change): string {
  if (change.name === 'threadpool') return `${threads(change.size)} ${command}`;
  const loaded = command.replace(/(^|\s)node(?=\s|$)/, '$1node --import millrace/auto');
  if (change.name === 'auto') return loaded;
  return `MILLRACE=${[change.name, ...nothingElse].join(',')} ${loaded}`;
}

/** A server that an experiment can load, and how; null when none was seen. */
function loadOf({ requests, frames }: Report) {
  const server = requests.servers.find(({ port, secure }) => port !== null && !secure);
  if (server === undefined) return null;
  const isWs = frames.sockets > 0;
  const url = (isWs ? requests.upgradeUrl : requests.url) ?? '';
  const isSocketIo = isWs && url.startsWith('/socket.io/');
  const path = isSocketIo ? '' : url.startsWith('/') ? url : '/';
  const [option, scheme] = isWs ? ['--ws', 'ws'] : ['--url', 'http'];
  const protocol = isSocketIo ? ' --protocol socket.io --event message' : '';
  const options = (port: string) =>
    `${option} ${quoted(`${scheme}://127.0.0.1:${port}${path}`)}${protocol}`;
  return { port: server.port!, options };
}

/** For a POSIX shell. */
function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text.replace('{port}', 'port'))) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
