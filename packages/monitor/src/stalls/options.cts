/** The options of `stalls()`: meaning, default and range. */
import { parse } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { usual, type WatchdogSettings } from './stall.cjs';

/** Option `probes` of `stalls()`. */
export interface ProbeOptions {
  /** Port: 0 (any free one) to 65,535; default 7118. In a worker of `node:cluster` its number is added. Change it if it is taken. */
  port?: number;
  /** Address to listen on; default 127.0.0.1. In a container 0.0.0.0, so that the probes reach it. */
  host?: string;
  /** Time in ms of blocking after which `/ready` fails: 1 to 3,600,000; default 5,000. Lower it if other processes can take over quickly. */
  readyAfter?: number;
  /** Time in ms of blocking after which `/live` fails: 1 to 86,400,000; default 60,000. Raise it above the longest computation that is no fault. */
  liveAfter?: number;
}

/** Options of `stalls()`. */
export interface StallOptions {
  /** Time in ms without a turn of the loop that counts as a stall: 20 to 3,600,000; default 100. Raise it if stalls of this length are fine. */
  limit?: number;
  /** Time in ms between two looks at an idle loop, twice as long while it does not turn: 10 to 10,000; default 100. Raise it to save the last tenths of a percent of a CPU. */
  interval?: number;
  /** Format of the lines on stderr; false: none. Default: 'text'. */
  log?: 'text' | 'json' | false;
  /** Most lines per minute: 1 to 10,000; default 30. Lower it if the log is expensive. */
  linesPerMinute?: number;
  /**
   * Time in ms without a pause that counts as a stall of a worker thread, and for a task of a pool ten times its usual time, if that is longer:
   * 100 to 86,400,000; default 2,000. Raise it if workers compute for longer; false: they are not watched.
   */
  workers?: number | false;
  /** Server of `/live`, `/ready`, `/metrics` and `/stalls` beside the loop; false: none. Default: false. */
  probes?: ProbeOptions | false;
}

const hourMs = 3_600_000;

export const probeSchema = is.schema({
  port: is.integer(0, 65_535, 7118),
  host: is.or(
    is.text('an address that is not empty', ({ length }) => length > 0),
    '127.0.0.1',
  ),
  readyAfter: is.ms(1, hourMs, 5000),
  liveAfter: is.ms(1, 24 * hourMs, 60_000),
} satisfies is.FieldsOf<ProbeOptions>);

/** @internal */
export const stallSchema = is.schema({
  limit: is.ms(20, hourMs, usual.limit),
  interval: is.ms(10, 10_000, usual.interval),
  log: is.choice(['text', 'json', false] as const, usual.log),
  linesPerMinute: is.integer(1, 10_000, usual.linesPerMinute),
  workers: is.or(is.either(is.ms(100, 24 * hourMs), is.choice([false] as const)), usual.workers),
  probes: is.either(is.choice([false] as const), is.object(probeSchema)),
} satisfies is.FieldsOf<StallOptions>);

/** Checks the options and completes them. Throws MILLRACE_E_INVALID_OPTION. */
export function stallOptions(given: StallOptions): WatchdogSettings {
  const { probes = false, log, ...others } = parse('stalls()', given, stallSchema);
  return {
    ...others,
    log: log as WatchdogSettings['log'],
    probes: probes === false ? null : probes,
  };
}
