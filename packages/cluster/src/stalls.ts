/**
 * Stalls of the processes. Each process has a watch: the one that `serve()` starts, or one of the application. Its main thread tells the
 * primary about each stall that is over. During a stall it cannot; then the watch answers the primary by its own probes, see `probes.ts`.
 */
import { subscribe } from 'node:diagnostics_channel';
import { isError } from '@millrace/base/realm';
import {
  presentWatch,
  type Stall,
  type StallStats,
  type Stalls,
  stalls,
} from '@millrace/monitor/stalls';
import type { Settings } from './options.js';
import { tell } from './protocol.js';

/** Stall of a process of the cluster. */
export interface ClusterStall extends Stall {
  /** Number of its slot, from 1. */
  readonly slot: number;
  readonly pid: number;
}

const kept = 100;

/**
 * Tells the primary about stalls of this process. With options it also watches the loop, unless the application does so itself, and tells
 * where the probes of the watch listen.
 */
export function reportStalls(options: Settings['stalls']): void {
  subscribe('millrace:stall', (stall) => tell({ type: 'stall', stall: stall as Stall }));
  if (options === false) return;
  try {
    const watch = watchOf(options);
    if (watch.address !== null) tell({ type: 'watched', address: watch.address });
    watch.on('probes', (address) => tell({ type: 'watched', address }));
  } catch (error) {
    tell({ type: 'unwatched', reason: isError(error) ? error.message : String(error) });
  }
}

/** A watch that the application has started stays; that of `millrace/auto` gives way. */
function watchOf({ probes, ...options }: Exclude<Settings['stalls'], false>): Stalls {
  const present = presentWatch();
  if (present !== null && !present.givesWay) return present;
  const watch = stalls({
    ...options,
    probes: probes ? { ...probes, host: '127.0.0.1', port: 0 } : false,
  });
  watch.givesWay = true;
  return watch;
}

/** Past stalls of all processes, in the primary. */
export class StallLog {
  readonly #recent: ClusterStall[] = [];
  readonly #counts = { computing: 0, starved: 0, parked: 0, unknown: 0 };
  readonly #durations = { computing: 0, starved: 0, parked: 0, unknown: 0 };

  add(stall: ClusterStall): void {
    this.#counts[stall.state]++;
    this.#durations[stall.state] += stall.duration;
    this.#recent.push(stall);
    if (this.#recent.length > kept) this.#recent.shift();
  }

  recent(): ClusterStall[] {
    return [...this.#recent];
  }

  stats(): StallStats {
    return { counts: { ...this.#counts }, durations: { ...this.#durations } };
  }
}
