/** Figures for people, and the lines about the loop. */
import { relative } from 'node:path';
import type { LoopReport } from './loop.js';

/** By hand: a formatter of Intl takes 50 ms and megabytes when it is made. */
export const count = (value: number): string =>
  `${Math.round(value)}`.replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** A count and what it counts. */
export const many = (value: number, what: string): string =>
  `${count(value)} ${what}${value === 1 ? '' : 's'}`;

export function ms(value: number): string {
  return value >= 10 ? `${count(value)} ms` : `${Number(value.toPrecision(2))} ms`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value >= 10 ? Math.round(value) : Number(value.toPrecision(2))} %`;
}

const mostFunctions = 5;

const UNKNOWN = 'by which function is not known: the profiler is on only after a first such turn';

/** What blocked the loop. */
export function blocked(loop: LoopReport): [what: string, text: string][] {
  const { turns, blockedMs, blockedTurns } = loop;
  if (turns === 0) return [['loop', 'not looked at: its first second is taken for start-up']];
  const text =
    blockedTurns === 0
      ? `never blocked for more than ${ms(blockedMs)} in ${many(turns, 'turn')} after the first second`
      : `blocked for more than ${ms(blockedMs)} in ${count(blockedTurns)} of ${many(turns, 'turn')}: ` +
        `${ms(loop.blockedTotalMs)} in all, ${ms(loop.blockedMaxMs)} at most`;
  return [['loop', text], ...functions(loop), ...starved(loop)];
}

function functions({ blockedTurns, attributedMs, functions }: LoopReport): [string, string][] {
  if (blockedTurns === 0) return [];
  const isKnown = functions.length > 0;
  const lines: [string, string][] = [
    ['', isKnown ? `of ${ms(attributedMs)} that were profiled:` : UNKNOWN],
  ];
  for (const { name, file, line, selfMs, totalMs } of functions.slice(0, mostFunctions)) {
    const place = file === null ? '' : ` (${relativePath(file)}:${line})`;
    const [own, all] = [ms(selfMs), ms(totalMs)];
    lines.push(['', `${name}${place}: ${own}${own === all ? '' : `, with what it calls ${all}`}`]);
  }
  return lines;
}

/** Not a matter of the application's code. */
function starved({ starvedTurns, starvedTotalMs }: LoopReport): [string, string][] {
  if (starvedTurns === 0) return [];
  const took = `${many(starvedTurns, 'turn')} of ${ms(starvedTotalMs)} in all`;
  return [['', `no CPU for this thread in ${took}: the machine was busy with other work`]];
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
