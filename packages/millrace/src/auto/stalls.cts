/** The watch of the event loop of this process, from a thread of its own; it gives way to one that the application starts. */
import { builtin } from '@millrace/base/realm';
import type { StallOptions, Stalls, stalls } from '@millrace/monitor/stalls' with {
  'resolution-mode': 'import',
};
import type { Part } from './feature.cjs';
import { canRequire, checkModules, sentence } from './functions.cjs';

/** Process that has the probes. Its children inherit the settings, and must not want the same port. */
const owner = 'MILLRACE_PROBES_PID';

type Module = { readonly stalls: typeof stalls };

export class StallsPart implements Part {
  #why: string | null = null;
  #watch: Stalls | null = null;
  #isOn = false;

  /** @param isShown the dashboard is on, whose page asks the watch while the loop is blocked */
  constructor(
    private readonly options: StallOptions,
    private readonly isShown: boolean,
  ) {}

  get state() {
    return this.#watch === null ? 'waiting' : 'active';
  }

  get why(): string | null {
    return this.#why ?? this.#watch?.why ?? null;
  }

  /** At once where an ES module can be required: the first turn of the application may be the one that blocks. */
  on(): Promise<void> | undefined {
    this.#isOn = true;
    this.#why = null;
    checkModules();
    if (canRequire) {
      this.#start(require('@millrace/monitor/stalls') as Module);
      return undefined;
    }
    return import('@millrace/monitor/stalls').then(
      (module) => this.#start(module),
      (error) => {
        this.#why = sentence(error);
      },
    );
  }

  off(): void {
    this.#isOn = false;
    this.#watch?.stop();
    this.#watch = null;
  }

  #start(module: Module): void {
    if (!this.#isOn || this.#watch !== null) return;
    try {
      const { probes = false } = this.options;
      const others = this.isShown ? { port: 0 } : false;
      const own = probes && hasProbes() ? probes : others;
      this.#watch = module.stalls({ ...this.options, probes: own });
      this.#watch.givesWay = true;
      if (probes) process.env[owner] ??= String(process.pid);
    } catch (error) {
      this.#why = sentence(error);
    }
  }
}

/** Reports whether this process serves probes: the first one does, and the workers of its cluster, which have ports of their own. */
function hasProbes(): boolean {
  const { [owner]: pid = String(process.pid) } = process.env;
  if (pid === String(process.pid)) return true;
  const { isWorker } = builtin('node:cluster') as unknown as typeof import('node:cluster').default;
  return isWorker;
}
