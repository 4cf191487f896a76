/**
 * Limits the workers that may have tasks at a time to the cores that other programs leave idle.
 *
 * A look compares the CPU time used since the last one, on the cores of the affinity and in the group with the quota, with that of this
 * process. The difference is what others use; what they leave of the cores and of the quota, the lesser of both, is for this process.
 * With each 250 ms what was before counts half as much, so that a short burst of another program changes little, and its end shows within a
 * second. A window is as long as nobody looked: where tasks are long, so is it. Own tasks never limit: they are not others' use.
 *
 * There is no limit in the first 100 ms, and while the other threads of this process want less than a tenth of a CPU: then tasks wait for
 * something, maybe for one another, and take no core. What they want is the time that they ran, and that they could have run but had no core.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { type CoreLook, groupUse, idleShares, lookAtCores } from '@millrace/base/limits/cores';
import { allowedCpus, readText } from '@millrace/base/limits/kernel';
import { performance } from '@millrace/base/timers';

/** Times in ms since the start. */
interface OwnUse {
  /** CPU time of this process. */
  readonly processMs: number;
  /** CPU time that its threads but this one, which runs no tasks, have had, or could have used while they had no core. */
  readonly wantedMs: number;
}

interface IdleCoresOptions {
  /** Root folder of the kernel's files, for tests; default `/`. */
  root?: string;
  /** Clock in ms, for tests. */
  clock?: () => number;
  /** CPU time of this process, for tests. */
  usage?: () => OwnUse;
}

/** The length of the first window, in ms. */
const firstMs = 100;
/** A look that is younger is used again, and what is older by this counts half; in ms. */
const freshMs = 250;
/** CPUs: threads that want less wait. */
const waitingUse = 0.1;

/** Looks at the cores when it is asked, at most every 250 ms; it has no timer. */
export class IdleCores {
  readonly #root: string;
  readonly #clock: () => number;
  readonly #usage: () => OwnUse;
  #last: CoreLook & OwnUse;
  /** CPUs that others leave, smoothed; Infinity while that is unknown. */
  #free = Number.POSITIVE_INFINITY;
  #allowed = Number.POSITIVE_INFINITY;

  constructor({ root = '/', clock = performance.now, usage = ownUse }: IdleCoresOptions = {}) {
    this.#root = root;
    this.#clock = clock;
    this.#usage = usage;
    this.#last = this.#look();
  }

  /** Workers that may have tasks at a time: one at least; Infinity without a limit. Under a ms of reading if the last look is old, else next to nothing. */
  allowed(): number {
    const elapsed = this.#clock() - this.#last.at;
    if (elapsed < (this.#free === Number.POSITIVE_INFINITY ? firstMs : freshMs))
      return this.#allowed;
    const before = this.#last;
    this.#last = this.#look();
    const free = this.#left(before, this.#last);
    const weight = this.#free === Number.POSITIVE_INFINITY ? 0 : 0.5 ** (elapsed / freshMs);
    this.#free = weight === 0 ? free : weight * this.#free + (1 - weight) * free;
    const isWaiting = this.#last.wantedMs - before.wantedMs < waitingUse * elapsed;
    this.#allowed = isWaiting ? Number.POSITIVE_INFINITY : Math.max(1, Math.round(this.#free));
    return this.#allowed;
  }

  #look(): CoreLook & OwnUse {
    return { ...lookAtCores(this.#root, this.#clock()), ...this.#usage() };
  }

  /** CPUs that others have left between two looks. Infinity where nothing is known of any core. */
  #left(from: CoreLook & OwnUse, to: CoreLook & OwnUse): number {
    const own = (to.processMs - from.processMs) / (to.at - from.at);
    const left = (cpus: number, used: number) => cpus - Math.max(0, used - own);
    const cores = idleShares(from.times, to.times, allowedCpus(this.#root));
    const busy = cores.reduce((sum, { idleShare }) => sum + 1 - idleShare, 0);
    const ofCores = cores.length === 0 ? Number.POSITIVE_INFINITY : left(cores.length, busy);
    const { quota } = to;
    if (quota === null) return ofCores;
    return Math.min(ofCores, left(quota, groupUse(from, to) ?? 0));
  }
}

export function ownUse(): OwnUse {
  const { user, system } = process.cpuUsage();
  const processMs = (user + system) / 1000;
  return { processMs, wantedMs: wantedMs() ?? processMs };
}

/** Null where the kernel does not say it. */
function wantedMs(): number | null {
  let sum = 0;
  try {
    const own = basename(readlinkSync('/proc/thread-self'));
    for (const thread of readdirSync('/proc/self/task')) {
      if (thread === own) continue;
      // It may have just ended.
      const times = readText('/', 'proc/self/task', thread, 'schedstat') ?? '0 0';
      const [ranNs, delayedNs] = times.split(' ');
      sum += Number(ranNs) + Number(delayedNs);
    }
  } catch {
    return null;
  }
  return Number.isFinite(sum) ? sum / 1e6 : null;
}
