/** The watch of the event loop of this process, from a thread of its own; it gives way to one that the application starts. */
import { builtin } from '@millrace/base/realm';
import type { StallOptions, Stalls } from '@millrace/monitor/stalls';
import type { Part } from './feature.cjs';
import { checkModules } from './functions.cjs';

/** Process that has the probes. Its children inherit the settings, and must not want the same port. */
const owner = 'MILLRACE_PROBES_PID';

export class StallsPart implements Part {
  #watch: Stalls | null = null;

  /** @param isShown the dashboard is on, whose page asks the watch while the loop is blocked */
  constructor(
    private readonly options: StallOptions,
    private readonly isShown: boolean,
  ) {}

  get state() {
    return this.#watch === null ? 'waiting' : 'active';
  }

  get why(): string | null {
    return this.#watch?.why ?? null;
  }

  /** Starts the watch at once: the first turn of the application may be the one that blocks. */
  on(): undefined {
    checkModules();
    if (this.#watch !== null) return;
    const { stalls } =
      require('@millrace/monitor/stalls') as typeof import('@millrace/monitor/stalls');
    const { probes = false } = this.options;
    const others = this.isShown ? { port: 0 } : false;
    const own = probes && hasProbes() ? probes : others;
    this.#watch = stalls(own === probes ? this.options : { ...this.options, probes: own });
    this.#watch.givesWay = true;
    if (probes) process.env[owner] ??= String(process.pid);
  }

  off(): void {
    this.#watch?.stop();
    this.#watch = null;
  }
}

/** Reports whether this process serves probes: the first one does, and the workers of its cluster, which have ports of their own. */
function hasProbes(): boolean {
  const { [owner]: pid = String(process.pid) } = process.env;
  if (pid === String(process.pid)) return true;
  const { isWorker } = builtin('node:cluster') as unknown as typeof import('node:cluster').default;
  return isWorker;
}
