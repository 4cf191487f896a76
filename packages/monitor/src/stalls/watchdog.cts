/**
 * Watchdog: a thread that observes the main thread's event loop and names a blocking function while it blocks. The main thread has no
 * timer and no hook for it, so an idle program stays asleep.
 *
 * At each look the loop is in one of three states:
 *
 * - **idle**: the main thread sleeps in its own epoll_wait, as Linux shows it ({@link ThreadState}). Elsewhere this is never known.
 * - **asked**: the loop is not idle, and a heartbeat was sent, a message that a turn of the loop answers. An answer ends this state.
 * - **stalled**: no answer came for `limit`. The watchdog samples the stack and logs the stall while it lasts. An answer ends it.
 *
 * A stall counts from its heartbeat: it may have begun up to one `interval` earlier, or two after a time without a turn, never later. Until the first answer the
 * limit is ten times as long, as a program loads its modules in its first turn. This thread itself may be late. If it waited for a CPU,
 * so did the program, and the time counts; if it neither ran nor waited, the process was stopped (SIGSTOP, a frozen
 * container), and the time does not count. Clocks are monotonic.
 *
 * This file owns the state of the loop and of the stall; the main thread gets copies of what is over. The files for samples, lines and
 * probes are loaded when the first is needed: most programs never block, and should not pay for them.
 */
import { builtin } from '@millrace/base/realm';
import { performance, setTimeout, wallClock } from '@millrace/base/timers';
import type { Capture, Samples } from './capture.cjs';
import type { LoopState } from './probes.cjs';
import { stateOf, stoppedMs, ThreadState } from './process-state.cjs';
import type { Log } from './report.cjs';
import {
  ANSWERED,
  type ProbeSettings,
  READY,
  type Stall,
  type ThreadTimes,
  type ToMain,
  type ToWatchdog,
  type WatchdogStart,
} from './stall.cjs';

const { readlinkSync } = builtin('node:fs');
const { workerData } = builtin('node:worker_threads');

/** Time between two samples, and between two looks while a heartbeat is pending, in ms. */
const sampleMs = 20;
/** Samples with a function of the program before the first line about a stall, which comes after `firstLineMs` at the latest. */
const firstSamples = 5;
const firstLineMs = 500;
/** Latest time of the first line where the program has to be paused for a sample, which takes longer. */
const pausedLineMs = 2000;
/** Samples without a function of the program before it is paused at its calls, and the most such pauses in a stall. */
const emptySamples = 2;
const mostPauses = 5;
/** Time between two later samples, in ms, and their number. */
const laterSampleMs = 1000;
const mostSamples = 100;
/** Factor of `interval` while the main thread sleeps all the time. */
const sleepFactor = 2;
/** Factor of `limit` until the loop has turned once. */
const startFactor = 10;
const kept = 100;

/** Pending heartbeat. */
interface Heartbeat {
  readonly number: number;
  /** Time of sending in ms, moved forward when the process was stopped. */
  since: number;
  startedAt: number;
  times: ThreadTimes | null;
  /** True if it counts anew from the end of a stop. */
  isRenewed: boolean;
}

/** Current stall. */
interface OpenStall {
  readonly id: number;
  readonly samples: Samples;
  sampledAt: number;
  pauses: number;
  isLogged: boolean;
  isAnswered: boolean;
  /** Number of looks at which the thread slept, by the name of its system call; null: in none. */
  readonly calls: Map<string | null, number>;
}

class Watchdog {
  readonly #settings: WatchdogStart;
  readonly #thread: ThreadState | null;
  readonly #own: ThreadState | null;
  #madeCapture: Capture | null = null;
  #madeLog: Log | null = null;
  readonly #recent: Stall[] = [];
  readonly #counts = { computing: 0, starved: 0, parked: 0, unknown: 0 };
  readonly #durations = { computing: 0, starved: 0, parked: 0, unknown: 0 };
  #sent = 0;
  #heartbeat: Heartbeat | null = null;
  #stall: OpenStall | null = null;
  #hasTurned: boolean;
  #nextId: number;
  /** Time in ms until which this thread may sleep; a later look or probe is late. */
  #due = performance.now();
  /** CPU time of this thread, and its time waiting for a CPU, at the last look or probe, in ms. */
  #ownMs = 0;

  constructor(settings: WatchdogStart) {
    this.#settings = settings;
    this.#nextId = settings.firstId;
    this.#hasTurned = !settings.isFirst;
    this.#thread = settings.thread === null ? null : ThreadState.open(settings.thread);
    this.#own = this.#thread === null ? null : ThreadState.open(ownFolder());
    settings.port.on('message', (answer: ToWatchdog) => this.#sampled(answer));
    const { probes } = settings;
    if (probes !== null) {
      const { serveProbes } = require('./probes.cjs') as typeof import('./probes.cjs');
      serveProbes(
        probes,
        () => this.#state(),
        (port, why) => this.#served(probes, port, why),
      );
    }
  }

  /** Looks at the loop and schedules the next look. */
  look(): void {
    const now = performance.now();
    this.#discountStop(now);
    const heartbeat = this.#heartbeat;
    if (heartbeat === null) {
      if (this.#thread?.isIdle() !== true) this.#send(now);
    } else if (Atomics.load(this.#settings.words, ANSWERED) === heartbeat.number) {
      this.#answered(now, heartbeat);
    } else if (now - heartbeat.since >= this.#limit) {
      this.#observe(now, heartbeat);
    }
    const waitMs = this.#waitMs(now);
    // Not from `now`: what was loaded for the first stall may have come from a slow disk.
    this.#due = performance.now() + waitMs;
    setTimeout(() => this.look(), waitMs);
  }

  get #capture(): Capture {
    if (this.#madeCapture === null) {
      const { Capture } = require('./capture.cjs') as typeof import('./capture.cjs');
      const times = () => this.#thread?.times() ?? null;
      this.#madeCapture = new Capture(this.#settings.cwd, times);
    }
    return this.#madeCapture;
  }

  get #log(): Log {
    if (this.#madeLog === null) {
      const { Log } = require('./report.cjs') as typeof import('./report.cjs');
      this.#madeLog = new Log(this.#settings.log, this.#settings.linesPerMinute);
    }
    return this.#madeLog;
  }

  get #limit(): number {
    const { limit } = this.#settings;
    return this.#hasTurned ? limit : limit * startFactor;
  }

  #waitMs(now: number): number {
    const { interval } = this.#settings;
    if (this.#stall !== null) return sampleMs;
    if (this.#heartbeat === null) return this.#thread?.hasSlept ? sleepFactor * interval : interval;
    return Math.max(1, Math.min(interval, this.#heartbeat.since + this.#limit - now));
  }

  /** Leaves out the time for which the process was stopped. Called first by all that runs in this thread. */
  #discountStop(now: number): void {
    const heartbeat = this.#heartbeat;
    if (heartbeat === null) return;
    const before = this.#ownMs;
    const { cpu, starved } = this.#own?.times() ?? { cpu: 0, starved: 0 };
    this.#ownMs = cpu + starved;
    const late = now - this.#due;
    this.#due = Math.max(this.#due, now);
    // Without /proc it may be a busy machine as well.
    const stopped = this.#own === null ? late - stoppedMs : late - (this.#ownMs - before);
    if (stopped <= stoppedMs) return;
    if (this.#stall !== null || heartbeat.isRenewed) heartbeat.since += stopped;
    else {
      // The loop wakes up together with this thread, and gets its time anew.
      heartbeat.since = now;
      heartbeat.startedAt = wallClock.now();
      heartbeat.times = this.#thread?.times() ?? null;
      heartbeat.isRenewed = true;
    }
    // A pending sample would count as taken after the time for which nothing ran.
    this.#madeCapture?.forget();
  }

  #send(now: number): void {
    const { cpu, starved } = this.#own?.times() ?? { cpu: 0, starved: 0 };
    this.#ownMs = cpu + starved;
    this.#sent = (this.#sent + 1) | 0;
    const times = this.#thread?.times() ?? null;
    this.#heartbeat = {
      ...{ number: this.#sent, since: now, startedAt: wallClock.now() },
      ...{ times, isRenewed: false },
    };
    this.#tell(this.#sent);
  }

  #answered(now: number, heartbeat: Heartbeat): void {
    const stall = this.#stall;
    if (stall !== null) {
      // A sample delayed by native code is answered at the same moment.
      if (this.#capture.isPending && !stall.isAnswered) {
        stall.isAnswered = true;
        return;
      }
      this.#end(now, heartbeat, stall);
    } else this.#thread?.learn();
    this.#hasTurned = true;
    this.#heartbeat = null;
  }

  #opened(): OpenStall {
    const { Samples } = require('./capture.cjs') as typeof import('./capture.cjs');
    return {
      id: this.#nextId++,
      samples: new Samples(),
      sampledAt: Number.NEGATIVE_INFINITY,
      pauses: 0,
      isLogged: false,
      isAnswered: false,
      calls: new Map(),
    };
  }

  /** Called at each look while the loop is stalled. */
  #observe(now: number, heartbeat: Heartbeat): void {
    this.#stall ??= this.#opened();
    const stall = this.#stall;
    const call = this.#thread?.call();
    if (call !== undefined) {
      const name = call?.name ?? null;
      stall.calls.set(name, (stall.calls.get(name) ?? 0) + 1);
    }
    const { count, placed } = stall.samples;
    const isClear = placed >= firstSamples || stall.pauses >= mostPauses;
    const apart = isClear ? laterSampleMs : 0;
    if (count < mostSamples && now - stall.sampledAt >= apart) {
      stall.sampledAt = now;
      this.#sample(stall);
    }
    if (stall.isLogged) return;
    const lineMs = stall.pauses > 0 && placed === 0 ? pausedLineMs : firstLineMs;
    if (placed < firstSamples && now - heartbeat.since < this.#limit + lineMs) return;
    stall.isLogged = true;
    this.#log.stall(this.#describe(now, heartbeat, stall, false));
  }

  #sample(stall: OpenStall): void {
    const capture = this.#capture;
    if (capture.expire()) stall.pauses = mostPauses;
    if (capture.isPending) return;
    const { count, placed } = stall.samples;
    const isBetweenJobs = placed < firstSamples && count - placed >= emptySamples;
    if (isBetweenJobs && stall.pauses < mostPauses && !capture.isInspected) {
      stall.pauses++;
      capture.askAtCall();
    } else capture.ask();
  }

  #sampled(answer: ToWatchdog): void {
    this.#discountStop(performance.now());
    const sample = this.#capture.read(answer);
    if (sample !== null) this.#stall?.samples.add(sample);
  }

  #end(now: number, heartbeat: Heartbeat, stall: OpenStall): void {
    const over = this.#describe(now, heartbeat, stall, true);
    this.#stall = null;
    this.#capture.forget();
    this.#counts[over.state]++;
    this.#durations[over.state] += over.duration;
    this.#recent.push(over);
    if (this.#recent.length > kept) this.#recent.shift();
    this.#log.stall(over);
    this.#tell({ stall: over });
  }

  #describe(now: number, heartbeat: Heartbeat, stall: OpenStall, isOver: boolean): Stall {
    const duration = Math.round(now - heartbeat.since);
    const times = this.#thread?.times() ?? null;
    const before = heartbeat.times ?? { cpu: 0, starved: 0 };
    const cpu = times === null ? null : Math.round(times.cpu - before.cpu);
    const [[call] = [null]] = [...stall.calls].sort(([, a], [, b]) => b - a);
    const waited = times === null ? null : Math.round(times.starved - before.starved);
    // An unfinished wait has not been counted yet.
    const starved = stall.calls.size > 0 || cpu === null ? waited : Math.max(0, duration - cpu);
    const state = stateOf(duration, cpu, starved);
    const described = {
      id: stall.id,
      startedAt: heartbeat.startedAt,
      ...{ duration, isOver, state, cpu, starved },
      systemCall: state === 'parked' ? call : null,
      samples: stall.samples.count,
      ...stall.samples.read(),
    };
    const { summaryOf } = require('./report.cjs') as typeof import('./report.cjs');
    return { ...described, summary: summaryOf(described, this.#capture) };
  }

  #state(): LoopState {
    const now = performance.now();
    this.#discountStop(now);
    const heartbeat = this.#heartbeat;
    const stall = this.#stall;
    const isBlocked = heartbeat !== null && stall !== null;
    return {
      blockedMs: isBlocked ? now - heartbeat.since : 0,
      hasTurned: this.#hasTurned,
      isWilling: Atomics.load(this.#settings.words, READY) === 1,
      current: isBlocked ? this.#describe(now, heartbeat, stall, false) : null,
      recent: this.#recent,
      counts: this.#counts,
      durations: this.#durations,
    };
  }

  #served({ host }: ProbeSettings, port: number | null, why: string): void {
    if (port !== null) this.#tell({ probes: { host, port } });
    else {
      this.#log.fault(why);
      this.#tell({ why });
    }
  }

  #tell(message: ToMain): void {
    this.#settings.port.postMessage(message);
  }
}

/** Returns the folder of this thread in /proc. */
function ownFolder(): string {
  try {
    return `/proc/${readlinkSync('/proc/thread-self')}`;
  } catch {
    return '';
  }
}

new Watchdog(workerData as WatchdogStart).look();
