/**
 * The CPU profiler of V8, on only while turns of the loop are too long. It runs in pieces of ten seconds, so that what it has
 * gathered stays small; after a piece without a long turn it is off until the next one, and for good when enough is known.
 */
import type { Session } from 'node:inspector';
import { now } from '@millrace/base/loop-clock';
import { builtin } from '@millrace/base/realm';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import {
  attribute,
  type FunctionTime,
  type FunctionTimes,
  type Profile,
  type Span,
} from './attribute.js';

/** Coarse: what is looked for takes 50 ms and more. In µs. */
const samplingMicros = 5000;
const pieceMs = 10_000;
/** Attributed time after which it is clear what blocks the loop, and the most pieces that are recorded. */
const enoughMs = 20_000;
const mostPieces = 60;

export class Profiler {
  readonly #times: FunctionTimes = new Map();
  #session: Session | null = null;
  #isOver = false;
  #pieces = 0;
  #spans: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ownMs = 0;
  /** Ms of long turns that were attributed to functions. */
  attributedMs = 0;

  /** A turn was too long. The profiler sees it if it was on, and is on from now on. */
  note(span: Span): void {
    if (this.#session !== null) this.#spans.push(span);
    else if (!this.#isOver) this.#measured(() => this.#start());
  }

  /** Ms that the profiler itself took since the last call: they are not the application's. */
  takeOwnMs(): number {
    const ms = this.#ownMs;
    this.#ownMs = 0;
    return ms;
  }

  /** What was recorded so far is attributed as well. */
  gather(): void {
    if (this.#spans.length > 0) this.#pieceOver();
  }

  /** Ends the profile, and the profiling. */
  stop(): void {
    this.#isOver = true;
    this.#measured(() => this.#end());
  }

  /** By time, longest first. */
  functions(): FunctionTime[] {
    return [...this.#times.values()].sort((a, b) => b.selfMs - a.selfMs);
  }

  #start(): void {
    try {
      const { Session } = builtin('node:inspector');
      const session = new Session();
      session.connect();
      session.post('Profiler.enable');
      session.post('Profiler.setSamplingInterval', { interval: samplingMicros });
      session.post('Profiler.start');
      this.#session = session;
      this.#pieces++;
      this.#timer = setTimeout(this.#pieceOver, pieceMs).unref();
    } catch {
      // This Node.js has no inspector.
      this.#isOver = true;
    }
  }

  readonly #pieceOver = (): void => {
    const isBlocked = this.#spans.length > 0;
    this.#measured(() => {
      this.#end();
      if (this.attributedMs >= enoughMs || this.#pieces >= mostPieces) this.#isOver = true;
      if (isBlocked && !this.#isOver) this.#start();
    });
  };

  #end(): void {
    const session = this.#session;
    if (session === null) return;
    clearTimeout(this.#timer);
    this.#session = null;
    const spans = this.#spans;
    this.#spans = [];
    const at = now();
    // In this thread the answer comes before post() returns.
    session.post('Profiler.stop', (error, result) => {
      if (error !== null || spans.length === 0) return;
      const profile = result.profile as Profile;
      const offsetMs = at - profile.endTime / 1000;
      this.attributedMs += attribute(profile, spans, offsetMs, this.#times);
    });
    session.disconnect();
  }

  #measured(work: () => void): void {
    const at = now();
    work();
    this.#ownMs += now() - at;
  }
}
