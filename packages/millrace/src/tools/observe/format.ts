/** The report as text for people: what was seen, with figures; what acting on it would bring; and the commands that try it. */
import { type Paint, painter, wrapped } from '@millrace/base/text';
import type { LoopReport } from './loop.js';
import { advice, commands, type Report, relativePath, savedFiles, savedFrames } from './report.js';

/** Options of {@link formatReport}. */
export interface FormatOptions {
  /** With colours of a terminal. Default false. */
  colour?: boolean;
  /** Columns after which lines are broken, where words allow it; commands are left whole: 40 or more. Default: lines are not broken. */
  width?: number;
  /** How the application is started, as `node app.js 8080`, for a shell. Default: as the report knows it. */
  command?: string;
}

/** What was seen, and what acting would bring. */
type Line = readonly [what: string, text: string];

const labelWidth = 15;
const mostFunctions = 5;
const mostRoutes = 3;
/** Below this nothing can be said about an application that did nothing. */
const briefSeconds = 5;

/** A short text that says with figures what was seen, what acting would bring, and how to prove it. Ends with a line feed. */
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

/** Whether there is anything to tell of a thread beside its loop. */
export function sawSomething({ writes, frames, files, requests, loop }: Report): boolean {
  const { reads, appends } = files;
  return (
    writes.writes + frames.frames + reads + appends + requests.requests + loop.blockedTurns > 0
  );
}

function rows(report: Report): Line[] {
  if (isTooLittle(report)) return [];
  return [
    ...socketRows(report),
    ...fileRows(report),
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
  const seen = `${count(frames.frames)} in ${many(frames.turns, 'turn')}, ${count(frames.contents)} different`;
  const gains =
    encodings + sends === 0
      ? 'no gain here'
      : `${many(encodings, 'encoding')} and ${many(sends, 'write')} fewer with ws`;
  const others = frames.others === 0 ? '' : ` (${count(frames.others)} more cannot be gathered)`;
  lines.push(['frames', `${seen}: ${gains}${others}`]);
  return lines;
}

function fileRows({ files }: Report): Line[] {
  const { reads, readTicks, mostReadsInTick, appends, commits } = files;
  const saved = savedFiles(files);
  const lines: Line[] = [];
  if (reads > 0) {
    const seen = `${count(reads)} in ${many(readTicks, 'tick')}, at most ${count(mostReadsInTick)} in one`;
    lines.push(['file reads', `${seen}: ${gain(saved.reads, reads, 'join another', 'fs')}`]);
  }
  if (appends > 0) {
    const seen = `${count(appends)} to ${many(commits, 'file')}, tick by tick`;
    lines.push(['file appends', `${seen}: ${gain(saved.appends, appends, 'join another', 'fs')}`]);
  }
  return lines;
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
  const lines = functions.slice(0, mostFunctions).map(({ name, file, line, ...time }): Line => {
    const place = file === null ? '' : ` (${relativePath(file)}:${line})`;
    const [own, all] = [ms(time.selfMs), ms(time.totalMs)];
    return ['', `${name}${place}: ${own}${own === all ? '' : `, with what it calls ${all}`}`];
  });
  return [['', `of ${ms(attributedMs)} that were profiled:`], ...lines];
}

/** Not a matter of the application's code. */
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

/** One sentence for what a feature would save. */
function gain(saved: number, all: number, what: string, feature: string): string {
  return saved === 0
    ? 'no gain here'
    : `${count(saved)} ${what} with ${feature} (${percent(saved / all)})`;
}

/** By hand: a formatter of Intl takes 50 ms and megabytes when it is made. */
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
};

function toTry(report: Report, command: string | undefined, bold: Paint, width: number): string[] {
  const changes = advice(report);
  const [first, ...others] = changes;
  if (first === undefined) return wrapped(nothingToTry(report), width);
  const each = changes.flatMap((change, i) => {
    const { run } = commands(report, change, command);
    const title = `${changes.length === 1 ? '' : `${i + 1}. `}${titles[change.name]}: ${change.why}`;
    return [
      ...wrapped(title, width - 2).map((line) => `  ${line}`),
      ...(run === null ? [] : [bold(`     ${run}`)]),
    ];
  });
  const lines = [
    ...wrapped(
      others.length === 0 ? 'Worth a try:' : 'Worth a try, each by itself, the first one first:',
      width,
    ),
    '',
    ...each,
    '',
  ];
  const { experiment } = commands(report, first, command);
  if (experiment === null) return [...lines, ...wrapped(noExperiment(command, report), width)];
  const what = others.length === 0 ? 'it helps' : 'the first one helps';
  return [
    ...lines,
    ...wrapped(`This measures whether ${what} (needs @millrace/lab):`, width),
    '',
    bold(indented(experiment)),
    ...(experiment.includes(' --event ')
      ? [
          '',
          ...wrapped('Put the name of an event that your clients send in place of message.', width),
        ]
      : []),
  ];
}

function noExperiment(command: string | undefined, { application }: Report): string {
  return command === undefined && application.file === null
    ? 'How the application is started is not known, so there is no command for it.'
    : 'No server was seen that an experiment could ask.';
}

/** By a turn after the start-up, or by a request, which is nobody's start-up. */
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
