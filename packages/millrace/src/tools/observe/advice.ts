/** What to try, given what was seen. */
import type { Report } from './report.js';

/** One change to try. `auto` is what `millrace/auto` has on by default; the others are switched on by name. */
export type Change =
  | { readonly name: 'auto' | 'net' | 'guard'; readonly why: string }
  | { readonly name: 'threadpool'; readonly size: number; readonly why: string };

/** Less than this, in total and as a share of what was counted, is not worth a try. */
const least = 10;
const leastShare = 0.05;
const mostThreads = 128;

/**
 * The changes that may help, each of which an experiment can prove by itself. What makes somebody wait comes before what saves work, then
 * the one with the larger share of its kind.
 */
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
