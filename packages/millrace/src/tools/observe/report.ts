/**
 * The report of observe mode as plain data, and what follows from it: the changes that may help, and the commands for a shell that try one
 * and prove what it brings. What makes somebody wait comes before what saves work, then the change with the larger share of its kind. Each
 * can be tried by itself. How the application was started is read once, when the observation begins: an application may change it.
 */
import { relative } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import type { DeadEmit } from './emits.js';
import type { FilesReport } from './files.js';
import type { FramesReport } from './frames.js';
import type { LookupsReport } from './lookups.js';
import type { LoopReport } from './loop.js';
import type { QueriesReport, StatementReport } from './queries.js';
import type { RequestsReport } from './requests.js';
import type { ThreadpoolReport } from './threadpool.js';
import type { WritesReport } from './writes.js';

/** Report of observe mode, as plain data. */
export interface Report {
  /** Version of this format. */
  version: 1;
  application: ApplicationReport;
  /** Length of the observation in seconds. */
  seconds: number;
  writes: WritesReport;
  frames: FramesReport;
  files: FilesReport;
  lookups: LookupsReport;
  queries: QueriesReport;
  /** Events emitted before their listener registered. */
  deadEmits: DeadEmit[];
  requests: RequestsReport;
  loop: LoopReport;
  threadpool: ThreadpoolReport;
}

/** The application: its command, and the time for which it was observed. */
export interface ApplicationReport {
  pid: number;
  /** Thread number; 0 is the main thread. */
  thread: number;
  node: string;
  /** Options of Node.js, without those that load Millrace. */
  execArgv: string[];
  /** Path from the working directory; null when there is none, as with --eval. */
  file: string | null;
  args: string[];
  /** Value of the environment variable PORT. */
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

/** Reports whether a module is Millrace's, by its name or by the path of this package. */
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

/** Change to try. `auto` is what `millrace/auto` has on by default; `net` and `guard` are switched on by name. */
type Change =
  | { readonly name: 'auto' | 'net' | 'guard'; readonly why: string }
  | { readonly name: 'threadpool'; readonly size: number; readonly why: string }
  | { readonly name: 'batch'; readonly statement: StatementReport; readonly why: string }
  | { readonly name: 'pipelined'; readonly why: string };

/** Least gain that is worth a try, in total and as a share of what was counted. */
const least = 10;
const leastShare = 0.05;
const mostThreads = 128;
/** Most statements in the text; others are in the data only. */
const mostBatches = 3;

/**
 * CPU time in µs that one of each costs the process at least: about half of what was measured, on servers of others (docs/reference/observe.md). A guess
 * for other machines, good enough to say which saving is larger.
 */
const costs = { encoding: 1, write: 5, trip: 10, lookup: 50, query: 100 };
/** Jobs of the threadpool for a `readFile`: it opens, looks at, reads and closes the file. */
const tripsOfRead = 4;

/** The changes that may help, the first one first. */
export function advice(report: Report): Change[] {
  const { writes, frames, files, lookups, requests, threadpool } = report;
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
  const savings: [savedMs: number, change: Change][] = [];
  const { encodings, sends } = savedFrames(frames);
  const saved = savedFiles(files);
  const ofAuto: [isWorth: boolean, what: string, ms: number][] = [
    [
      isWorthIt(encodings + sends, 2 * frames.frames),
      'frames can be gathered',
      (encodings * costs.encoding + sends * costs.write) / 1000,
    ],
    [
      isWorthIt(saved.reads + saved.appends + saved.streams, countOfFiles(files)),
      'files can be read on the loop or gathered',
      saved.ms,
    ],
    [isWorthIt(lookups.joined, lookups.lookups), 'look-ups can be one', savedLookupsMs(lookups)],
  ];
  const worth = ofAuto.filter(([isWorth]) => isWorth);
  if (worth.length > 0) {
    const why = worth.map(([, what]) => what).join(', ');
    savings.push([worth.reduce((sum, [, , ms]) => sum + ms, 0), { name: 'auto', why }]);
  }
  if (isWorthIt(writes.saved, writes.writes)) {
    const ms = (writes.saved * costs.write) / 1000;
    savings.push([ms, { name: 'net', why: 'socket writes can be gathered' }]);
  }
  savings.push(...ofQueries(report));
  return [waits, savings].flatMap((each) => each.sort(([a], [b]) => b - a).map(([, it]) => it));
}

/** A pool that is exhausted by equal queries needs one advice: with fewer queries it is not. */
function ofQueries({ queries }: Report): [savedMs: number, change: Change][] {
  const { statements, poolQueries, poolWaits } = queries;
  const equal = statements
    .filter((each) => isWorthIt(each.queries - each.ticks, each.queries))
    .slice(0, mostBatches)
    .map((statement): [number, Change] => {
      const why = 'equal queries in one tick can be one';
      return [savedQueriesMs(statement), { name: 'batch', statement, why }];
    });
  if (equal.length > 0 || !isWorthIt(poolWaits, poolQueries)) return equal;
  const why = 'queries of the pool waited for a connection';
  return [[(poolWaits * costs.query) / 2000, { name: 'pipelined', why }]];
}

export function savedFrames({ frames, contents, writes }: Report['frames']) {
  return { encodings: frames - contents, sends: frames - writes };
}

const countOfFiles = ({ reads, appends, streams }: FilesReport) => reads + appends + streams;

/** Reads and streams without a trip to the threadpool, appends that join another, trips, and the CPU time in ms that all save. */
export function savedFiles(files: FilesReport) {
  const { reads, largeReads, appends, commits, smallStreams, streamTrips, stats } = files;
  const small = reads - largeReads;
  const joined = appends - commits;
  // A file system is looked at for a stream, and otherwise for reasons of its own.
  const trips = streamTrips + Math.min(stats, smallStreams);
  const ms = savedReadsMs(small + joined) + savedTripsMs(trips);
  return { reads: small, appends: joined, streams: smallStreams, trips, ms };
}

export const savedReadsMs = (reads: number): number => savedTripsMs(reads * tripsOfRead);

export const savedTripsMs = (trips: number): number => (trips * costs.trip) / 1000;

export const savedLookupsMs = ({ joined }: LookupsReport): number => (joined * costs.lookup) / 1000;

/** The saving where a database is asked in the process itself: the time of the queries that remain is not known, so all of it at most. */
export function savedQueriesMs({ driver, queries, ticks, busyMs }: StatementReport): number {
  if (driver === 'better-sqlite3') return busyMs * (1 - ticks / queries);
  return ((queries - ticks) * costs.query) / 1000;
}

const isWorthIt = (saved: number, all: number) => saved >= least && saved / all >= leastShare;

interface Commands {
  /** Starts the application with the change; null when it is not known how it is started, and for a change of its code. */
  run: string | null;
  /** Compares both ways; null also when there is no server of http or ws that it could ask. */
  compare: string | null;
}

/** Switches of what is on by default, so that a feature can be tried alone. */
const nothingElse = ['no-ws', 'no-fs', 'no-dns', 'no-reads'];

/** @param given how the application is started, as `node app.js`; otherwise what the report knows of it */
export function commands(report: Report, change: Change, given?: string): Commands {
  const { application } = report;
  const fixed = given ?? commandOf(application, null);
  if (fixed === null || change.name === 'batch' || change.name === 'pipelined')
    return { run: null, compare: null };
  const run = changed(fixed, change);
  const load = loadOf(report);
  if (load === null) return { run, compare: null };
  const before = given ?? commandOf(application, load.port)!;
  const after = changed(before, change);
  const shown = change.name === 'threadpool' ? threads(change.size) : null;
  const lines = [
    'npx millrace compare',
    quoted(before),
    // The lab has to see which arm it is, and Node.js says nothing of its threads.
    quoted(shown === null ? after : `echo ${shown}; ${after}`),
    ...(shown === null ? [] : [`--proof ${shown}`]),
    load.options(isPlaceable(before) ? '{port}' : `${load.port}`),
  ];
  return { run, compare: lines.join(' \\\n  ') };
}

const isPlaceable = (command: string) => command.includes('{port}');

/** Returns the command with `{port}` in place of its port, if that was an argument or the environment variable PORT. */
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

/** A server that `millrace compare` can load, and how; null when none was seen. */
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

/** Quotes an argument for a POSIX shell. */
function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text.replace('{port}', 'port'))) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
