/** What to try, given what was seen. */
import type { Report } from './report.js';

export interface Advice {
  /** Features that would bring something. `ws` and `fs` are on by default. */
  features: ('ws' | 'fs' | 'net' | 'guard')[];
  /** A larger threadpool to try; null where nothing waits for it. */
  threadpoolSize: number | null;
}

/** Less than this, in total and as a share of what was counted, is not worth a try. */
const least = 10;
const leastShare = 0.05;
const mostThreads = 128;

export function advice({ writes, frames, files, requests, threadpool }: Report): Advice {
  const features: Advice['features'] = [];
  const { encodings, sends } = savedFrames(frames);
  if (isWorthIt(encodings + sends, 2 * frames.frames)) features.push('ws');
  const { reads, appends } = savedFiles(files);
  if (isWorthIt(reads + appends, files.reads + files.appends)) features.push('fs');
  if (isWorthIt(writes.saved, writes.writes)) features.push('net');
  if (requests.wouldShed > 0) features.push('guard');
  const { share, size } = threadpool;
  const isWaiting = share >= leastShare && size < mostThreads;
  return { features, threadpoolSize: isWaiting ? Math.min(mostThreads, size * 2) : null };
}

export function savedFrames({ frames, contents, writes }: Report['frames']) {
  return { encodings: frames - contents, sends: frames - writes };
}

export function savedFiles({ reads, readTicks, appends, commits }: Report['files']) {
  return { reads: reads - readTicks, appends: appends - commits };
}

const isWorthIt = (saved: number, all: number) => saved >= least && saved / all >= leastShare;
