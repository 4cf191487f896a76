/** The report as text for people: what was seen, with figures; what acting on it would bring; and the commands that try it. */
import { type Paint, painter, wrapped } from '@millrace/base/text';
import type { Place } from './callers.js';
import type { LoopReport } from './loop.js';
import type { StatementReport } from './queries.js';
import { mainBuiltin, remedyFor } from './remedies.js';
import {
  advice,
  commands,
  type Report,
  relativePath,
  savedFiles,
  savedFrames,
  savedLookupsMs,
  savedQueriesMs,
  savedReadsMs,
  savedTripsMs,
} from './report.js';

/** Options of {@link formatReport}. */
export interface FormatOptions {
  /** Uses colours of a terminal. Default false. */
  colour?: boolean;
  /** Columns after which lines are broken, where words allow it; commands are left whole: 40 or more. Default: lines are not broken. */
  width?: number;
  /** Command that starts the application, as `node app.js 8080`, for a shell. Default: the report's own. */
  command?: string;
}

/** Finding, and the gain of acting on it. */
type Line = readonly [what: string, text: string];

const labelWidth = 15;
const mostFunctions = 5;
const mostRoutes = 3;
const mostStatements = 5;
const mostEmits = 3;
/** Columns of a statement in its line. */
const mostOfText = 100;
/** Below this nothing can be said about an application that did nothing. */
const briefSeconds = 5;

/**
 * Formats a report as a short text: findings with figures, the gain to expect, and the command that proves it. Ends with a
 * line feed.
 */
export function formatReport(report: Report, options: FormatOptions = {}): string {
  const { colour = false, command, width = Number.POSITIVE_INFINITY } = options;
  const paint = painter(colour);
  const [bold, dim] = [paint(1), paint(2)];
  const { application, seconds } = report;
  const where = `process ${application.pid}${application.thread === 0 ? '' : `, thread ${application.thread}`}`;
  const lines = [
    bold(`Millrace has observed ${where}, for ${seconds.toFixed(1)} s, and changed nothing.`),
    '',
    ...rows(report).flatMap(([what, text]) =>
      wrapped(text, width - labelWidth - 3).map(
        (line, i) => `  ${dim((i === 0 ? what : '').padEnd(labelWidth))} ${line}`,
      ),
    ),
    ...(isTooLittle(report) ? [] : ['']),
    ...toTry(report, command, bold, width),
  ];
  return `${lines.join('\n')}\n`;
}

/** Reports whether there is anything to tell of a thread beside its loop. */
export function sawSomething(report: Report): boolean {
  const { writes, frames, files, lookups, queries, deadEmits, requests, loop } = report;
  const { reads, appends, streams, handleReads } = files;
  const seen = [writes.writes, frames.frames, reads, appends, streams, handleReads];
  const more = [lookups.lookups, queries.queries, queries.unseen.length, deadEmits.length];
  return [...seen, ...more, requests.requests, loop.blockedTurns].some((each) => each > 0);
}

function rows(report: Report): Line[] {
  if (isTooLittle(report)) return [];
  return [
    ...socketRows(report),
    ...fileRows(report),
    ...lookupRows(report),
    ...queryRows(report),
    ...emitRows(report),
    ...requestRows(report),
    ...loopRows(report.loop),
    ...threadpoolRows(report),
  ];
}

function socketRows({ writes, frames }: Report): Line[] {
  const { saved, turns, mostInTurn } = writes;
  const lines: Line[] = [];
  if (writes.writes === 0) lines.push(['socket writes', 'none seen']);
  else {
    const seen = `${count(writes.writes)} in ${many(turns, 'turn')}, at most ${count(mostInTurn)} on one socket in a turn`;
    lines.push(['socket writes', `${seen}: ${gain(saved, writes.writes, 'fewer', 'net')}`]);
  }
  if (frames.frames + frames.others === 0) return lines;
  const { encodings, sends } = savedFrames(frames);
  const { lone, mostOnSocket } = frames;
  const seen = `${count(frames.frames)} in ${many(frames.turns, 'turn')}, ${count(frames.contents)} different, at most ${count(mostOnSocket)} to one socket in a turn`;
  const gains =
    encodings + sends === 0
      ? 'no gain here'
      : `${many(encodings, 'encoding')} and ${many(sends, 'write')} fewer with ws${lone === 0 ? '' : `; ${count(lone)} alone in their turn, with no gain`}`;
  const others = frames.others === 0 ? '' : ` (${count(frames.others)} more cannot be gathered)`;
  lines.push(['frames', `${seen}: ${gains}${others}`]);
  return lines;
}

function fileRows({ files, requests }: Report): Line[] {
  const { reads, loneReads, readTicks, largeReads, mostReadsInTick, handleReads } = files;
  const { appends, commits, streams, smallStreams } = files;
  const saved = savedFiles(files);
  const lines: Line[] = [];
  if (reads > 0) {
    const alone = loneReads === 0 ? '' : `, ${count(loneReads)} alone`;
    const seen = `${count(reads)} in ${many(readTicks, 'tick')}, at most ${count(mostReadsInTick)} in one${alone}`;
    const large =
      largeReads === 0 ? '' : `; ${count(largeReads)} of more than 256 KB, with no gain`;
    const gains = gain(
      saved.reads,
      reads,
      'on the loop or joined with fs, if they are cached',
      null,
    );
    lines.push(['file reads', `${seen}: ${gains}${about(savedReadsMs(saved.reads))}${large}`]);
  }
  if (handleReads > 0) {
    lines.push(['', `${count(handleReads)} of a FileHandle, which are left to Node.js`]);
  }
  if (streams > 0) {
    const each = saved.streams === 0 ? 0 : saved.trips / saved.streams;
    const trips = `${count(saved.trips)} trips to the threadpool, ${each.toFixed(1)} a file`;
    const gains =
      saved.streams === 0
        ? 'no gain here'
        : `${trips}, fewer with fs, if they are cached${about(savedTripsMs(saved.trips))}`;
    const of = requests.requests === 0 ? '' : ` in ${many(requests.requests, 'request')}`;
    const small = `${count(smallStreams)} of at most 256 KB`;
    lines.push(['file streams', `${count(streams)}${of}, ${small}: ${gains}`]);
  }
  if (appends > 0) {
    const seen = `${count(appends)} to ${many(commits, 'file')}, tick by tick`;
    lines.push(['file appends', `${seen}: ${gain(saved.appends, appends, 'join another', 'fs')}`]);
  }
  return lines;
}

function lookupRows({ lookups }: Report): Line[] {
  const { lookups: all, questions, joined, repeated, mostJoined } = lookups;
  if (all === 0) return [];
  const seen = `${count(all)} of ${many(questions, 'name')}`;
  const most = joined === 0 ? '' : `, at most ${count(mostJoined)} at once`;
  const gains = `${gain(joined, all, 'fewer', 'dns')}${about(savedLookupsMs(lookups))}`;
  const lines: Line[] = [['look-ups', `${seen}${most}: ${gains}`]];
  if (repeated > 0) {
    const again = `${count(repeated)} more came within 10 s of an equal one`;
    lines.push(['', `${again}: fewer with { "dns": { "ttl": 10000 } }, with answers of that age`]);
  }
  return lines;
}

function queryRows({ queries, requests }: Report): Line[] {
  const { queries: all, drivers, unseen, poolQueries, poolWaits, statements } = queries;
  const lines: Line[] = [];
  for (const database of unseen) {
    lines.push([
      'queries',
      `those of ${database} cannot be seen: its driver is in a bundle, or is none of pg, mysql2 and better-sqlite3`,
    ]);
  }
  if (all === 0) return lines;
  const equal = statements.filter((each) => each.queries > each.ticks);
  const repeats = equal.reduce((sum, each) => sum + each.queries - each.ticks, 0);
  const gains =
    repeats === 0
      ? 'none twice in a tick: no gain here'
      : `${count(repeats)} equal to another of their tick (${percent(repeats / all)})`;
  lines.push(['queries', `${count(all)} of ${drivers.join(', ')}: ${gains}`]);
  for (const each of equal.slice(0, mostStatements)) lines.push(...statementRows(each));
  for (const each of statements.filter((each) => isSequential(each, requests.requests))) {
    const per = (each.queries / requests.requests).toFixed(1);
    const text = `${placesOf(each)}${per} a request, one after another: ${shortened(each.text)}`;
    lines.push(['', `${text}: start them together, then batch() can gather them`]);
  }
  if (poolWaits > 0) {
    const waited = `${count(poolWaits)} of ${count(poolQueries)} queries of the pool`;
    lines.push(['', `${waited} waited for a connection (${percent(poolWaits / poolQueries)})`]);
  }
  return lines;
}

/** Several in a request, but not at once. Those that nobody asked for, at the start for instance, are few. */
const isSequential = ({ queries, ticks }: StatementReport, requests: number): boolean =>
  requests >= 10 && queries / requests >= 2 && queries - ticks < queries / 2;

function statementRows(statement: StatementReport): Line[] {
  const { driver, text, queries, ticks, mostInTick } = statement;
  const seen = `${count(queries)} in ${many(ticks, 'tick')}, at most ${count(mostInTick)} in one`;
  const saved = savedQueriesMs(statement);
  const cost = driver === 'better-sqlite3' ? ` (${ms(saved)} at most)` : about(saved);
  const fewer = `${count(queries - ticks)} fewer as one${cost}`;
  return [['', `${placesOf(statement)}${shortened(text)}: ${seen}: ${fewer}`]];
}

const shortened = (text: string): string =>
  text.length <= mostOfText ? text : `${text.slice(0, mostOfText)}…`;

const placesOf = ({ places }: { places: readonly Place[] }): string =>
  places.length === 0 ? '' : `${places.map(placeOf).join(', ')}: `;

const placeOf = ({ file, line }: Place): string => `${relativePath(file)}:${line}`;

function emitRows({ deadEmits }: Report): Line[] {
  return deadEmits.slice(0, mostEmits).map(({ event, emitter, emits, listeners, place }, i) => {
    const who = listeners === 1 ? 'the listener' : `${count(listeners)} listeners, the first`;
    const missed = `${many(emits, 'emit')} of '${event}' on ${emitter}`;
    const text = `${missed} came before ${who} at ${placeOf(place)}: BatchEmitter keeps them with retain`;
    return [i === 0 ? 'dead emits' : '', text];
  });
}

function requestRows({ requests }: Report): Line[] {
  const all = requests.requests;
  if (all === 0) return [];
  const text =
    requests.wouldShed === 0
      ? 'none had to wait for too long: no gain here'
      : `${gain(requests.wouldShed, all, 'refused in time', 'guard')}, which keeps the others quick`;
  const routes = requests.routes
    .slice(0, mostRoutes)
    .map(({ route, requests, busyMs, meanMs, maxMs }): Line => {
      const each = requests === 1 ? '' : `: ${ms(meanMs)} each, ${ms(maxMs)} at most`;
      return ['', `${route}: ${many(requests, 'request')} held the loop for ${ms(busyMs)}${each}`];
    });
  return [['requests', `${count(all)}: ${text}`], ...routes];
}

function loopRows(loop: LoopReport): Line[] {
  const { turns, blockedMs, blockedTurns } = loop;
  if (turns === 0) return [['loop', 'not looked at: its first second is taken for start-up']];
  const text =
    blockedTurns === 0
      ? `never blocked for more than ${ms(blockedMs)} in ${many(turns, 'turn')} after the first second`
      : `blocked for more than ${ms(blockedMs)} in ${count(blockedTurns)} of ${many(turns, 'turn')}: ` +
        `${ms(loop.blockedTotalMs)} in all, ${ms(loop.blockedMaxMs)} at most`;
  return [['loop', text], ...functions(loop), ...starved(loop)];
}

function functions({ blockedTurns, attributedMs, functions }: LoopReport): Line[] {
  if (blockedTurns === 0) return [];
  if (functions.length === 0) {
    return [
      ['', 'by which function is not known: the profiler is on only after a first such turn'],
    ];
  }
  const lines = functions
    .filter(({ selfMs }) => selfMs > 0)
    .slice(0, mostFunctions)
    .map((time): Line => {
      const { name, file, line } = time;
      const place = file === null ? '' : ` (${relativePath(file)}:${line})`;
      const [own, all] = [ms(time.selfMs), ms(time.totalMs)];
      const builtin = mainBuiltin(time);
      const within = builtin === null ? '' : `, mostly in ${shortened(builtin)}`;
      const called = own === all ? '' : `, with what it calls ${all}`;
      return ['', `${name}${place}: ${own}${within}${called}: ${remedyFor(time)}`];
    });
  return [['', `of ${ms(attributedMs)} that were profiled, and what to do:`], ...lines];
}

/** Reports turns for which the application's code is not to blame. */
function starved({ starvedTurns, starvedTotalMs }: LoopReport): Line[] {
  if (starvedTurns === 0) return [];
  const took = `${many(starvedTurns, 'turn')} of ${ms(starvedTotalMs)} in all`;
  return [['', `no CPU for this thread in ${took}: the machine was busy with other work`]];
}

function threadpoolRows({ threadpool }: Report): Line[] {
  const { size, probes, share, meanMs, maxMs } = threadpool;
  if (probes === 0) return [];
  const text =
    share === 0
      ? `no job waited for one of ${size} threads (${many(probes, 'probe')})`
      : `jobs waited in ${percent(share)} of the time for one of ${size} threads: ${ms(meanMs)}, at most ${ms(maxMs)} (${many(probes, 'probe')})`;
  return [['threadpool', text]];
}

/** Sentence on what a feature would save; null: `what` names it. */
function gain(saved: number, all: number, what: string, feature: string | null): string {
  if (saved === 0) return 'no gain here';
  const by = feature === null ? what : `${what} with ${feature}`;
  return `${count(saved)} ${by} (${percent(saved / all)})`;
}

/** CPU time that a change saves, by what was measured elsewhere; nothing below 1 ms. */
const about = (savedMs: number): string =>
  savedMs < 1 ? '' : `, about ${ms(savedMs)} of CPU time`;

/** Formats a number by hand: a formatter of Intl takes 50 ms and megabytes when it is made. */
const count = (value: number): string => `${Math.round(value)}`.replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** A count and what it counts. */
const many = (value: number, what: string): string =>
  `${count(value)} ${what}${value === 1 ? '' : 's'}`;

function ms(value: number): string {
  return value >= 10 ? `${count(value)} ms` : `${Number(value.toPrecision(2))} ms`;
}

function percent(share: number): string {
  const value = share * 100;
  return `${value >= 10 ? Math.round(value) : Number(value.toPrecision(2))} %`;
}

const titles = {
  auto: 'millrace/auto with its defaults',
  net: 'net alone',
  guard: 'guard alone',
  threadpool: 'a larger threadpool',
  batch: 'batch()',
  pipelined: 'pipelined() of millrace/pg',
};

function toTry(report: Report, command: string | undefined, bold: Paint, width: number): string[] {
  const changes = advice(report);
  if (changes.length === 0) return wrapped(nothingToTry(report), width);
  const isOne = changes.length === 1;
  const each = changes.flatMap((change, i) => {
    const place = change.name === 'batch' ? placesOf(change.statement) : '';
    const title = `${isOne ? '' : `${i + 1}. `}${titles[change.name]}: ${place}${change.why}`;
    const { run } = commands(report, change, command);
    const code = codeOf(change);
    return [
      ...wrapped(title, width - 2).map((line) => `  ${line}`),
      ...(run === null ? [] : [bold(`     ${run}`)]),
      ...(code === null ? [] : code.split('\n').map((line) => bold(`     ${line}`))),
    ];
  });
  const lines = [
    ...wrapped(isOne ? 'Worth a try:' : 'Worth a try, each by itself, the first one first:', width),
    '',
    ...each,
    '',
  ];
  const index = changes.findIndex(({ name }) => name !== 'batch' && name !== 'pipelined');
  if (index < 0) {
    return [...lines, ...wrapped('Run it again like this to see what is left.', width)];
  }
  const { compare } = commands(report, changes[index]!, command);
  if (compare === null) return [...lines, ...wrapped(noComparison(command, report), width)];
  const what = isOne
    ? 'it helps'
    : index === 0
      ? 'the first one helps'
      : `number ${index + 1} helps`;
  return [
    ...lines,
    ...wrapped(`This measures whether ${what} (needs @millrace/lab):`, width),
    '',
    bold(indented(compare)),
    ...(compare.includes(' --event ')
      ? [
          '',
          ...wrapped('Put the name of an event that your clients send in place of message.', width),
        ]
      : []),
  ];
}

/** Code for a change that no switch makes. */
function codeOf(change: ReturnType<typeof advice>[number]): string | null {
  if (change.name === 'pipelined') {
    return "import { pipelined } from 'millrace/pg';\nconst shared = pipelined(pool); // shared.query() in place of pool.query()";
  }
  if (change.name !== 'batch') return null;
  const { instead, text } = change.statement;
  return instead ?? `// by hand: one statement for many values, in batch(), instead of\n// ${text}`;
}

function noComparison(command: string | undefined, { application }: Report): string {
  return command === undefined && application.file === null
    ? 'How the application is started is not known, so there is no command for it.'
    : 'No server was seen that could be compared under load.';
}

/** Reports whether the loop was held by a turn after the start-up, or by a request, which is never part of a start-up. */
const wasHeld = ({ loop, requests }: Report) =>
  loop.blockedTurns > 0 || requests.routes.some(({ maxMs }) => maxMs > loop.blockedMs);

/** A thread without a CPU did little, and that is worth telling. */
const isTooLittle = (report: Report) =>
  report.seconds < briefSeconds && report.loop.starvedTurns === 0 && !sawSomething(report);

function nothingToTry(report: Report): string {
  if (wasHeld(report)) {
    return 'Gathering would not help here. What blocked the loop belongs on another thread (@millrace/pool) or into smaller pieces.';
  }
  if (isTooLittle(report) || (report.seconds < briefSeconds && report.loop.turns === 0)) {
    return 'It ran for too short a time, or did too little, to tell: observe it under its usual load.';
  }
  return 'Nothing was seen that Millrace would make much better: leave it as it is.';
}

const indented = (text: string) => text.replaceAll(/^/gm, '  ');
