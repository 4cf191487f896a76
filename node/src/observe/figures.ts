/** Figures for people, and the lines about the loop. */
import type { LoopReport } from './loop.js';
import { relativePath } from './path.js';

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
  const { turns, blockedMs, blockedTurns, functions } = loop;
  if (turns === 0) return [['loop', 'not looked at: its first second is taken for start-up']];
  if (blockedTurns === 0) {
    const seen = `${many(turns, 'turn')} after the first second`;
    return [['loop', `never blocked for more than ${ms(blockedMs)} in ${seen}`]];
  }
  const seen = `blocked for more than ${ms(blockedMs)} in ${count(blockedTurns)} of ${many(turns, 'turn')}`;
  const took = `${ms(loop.blockedTotalMs)} in all, ${ms(loop.blockedMaxMs)} at most`;
  const lines: [string, string][] = [['loop', `${seen}: ${took}`]];
  const isKnown = functions.length > 0;
  lines.push(['', isKnown ? `of ${ms(loop.attributedMs)} that were profiled:` : UNKNOWN]);
  for (const { name, file, line, selfMs, totalMs } of functions.slice(0, mostFunctions)) {
    const place = file === null ? '' : ` (${relativePath(file)}:${line})`;
    const [own, all] = [ms(selfMs), ms(totalMs)];
    lines.push(['', `${name}${place}: ${own}${own === all ? '' : `, with what it calls ${all}`}`]);
  }
  return lines;
}
