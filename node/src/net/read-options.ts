/** The options of `enlarge()`: meaning, default, range, and the check that keeps bad ones out. */
import { checkKeys, invalid } from '../core/options.js';

/** Options of `enlarge()`. */
export interface EnlargeOptions {
  /** Bytes the read size starts at and falls back to: 4,096 to `maxRead`; default 65,536, as Node reads without it. */
  minRead?: number;
  /** Bytes it grows to: up to 16 MiB; default 262,144. More was not seen to be quicker, and costs memory. */
  maxRead?: number;
  /** Full reads in a row after which it doubles: 1 to 1,000; default 2. */
  growAfter?: number;
  /** Reads in a row that fill less than a quarter, after which it halves: 1 to 1,000,000; default 64. */
  shrinkAfter?: number;
  /** Full reads at `maxRead` after which the buffers of the system are raised: 1 to 1,000,000; default 8. */
  raiseAfter?: number;
  /**
   * The receive buffer of the system (SO_RCVBUF) to raise to, in bytes, as far as it is allowed: 0, which leaves it, to
   * 2^31 - 1. Default 4 MiB, or 0 where the system's own tuning goes further than it lets anybody ask for. Set to 0 for
   * long and fast paths, which may hold more than this: a raised buffer is no longer tuned by the system.
   */
  receiveBuffer?: number;
  /** The same for the send buffer (SO_SNDBUF), in bytes: 0 to 2^31 - 1; default 0. */
  sendBuffer?: number;
  /**
   * Bytes of full reads after which the other sockets get their turn: `maxRead` to 1 GiB; default 524,288, or `maxRead` if
   * that is more. 0: after 32 reads, as without it. A larger one delays the rest of the loop.
   */
  maxTurn?: number;
}

const kibi = 1024;
const mebi = kibi * kibi;
const most = { read: 16 * mebi, turn: kibi * mebi, buffer: 2 ** 31 - 1 };
const names = [
  'minRead',
  'maxRead',
  'growAfter',
  'shrinkAfter',
  'raiseAfter',
  'receiveBuffer',
  'sendBuffer',
  'maxTurn',
] as const;

/** For the addon: a number for each of `names`; a `receiveBuffer` below 0 is the system's. */
export type ReadOptions = readonly number[];
export const readOptionCount = names.length;

/** Checks the options and completes them. Throws MILLRACE_E_INVALID_OPTION. */
export function readOptions(given: EnlargeOptions): ReadOptions {
  checkKeys('the options of enlarge()', given, names);
  const integer = (
    name: keyof EnlargeOptions,
    usual: number,
    min: number,
    max: number,
    or = '',
  ) => {
    const value = given[name];
    if (value === undefined) return usual;
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw invalid(name, value, `an integer from ${min} to ${max}${or}`);
  };
  const least = integer('minRead', 4 * kibi, 4 * kibi, most.read);
  const maxRead = integer('maxRead', Math.max(256 * kibi, least), least, most.read);
  const minRead = integer('minRead', Math.min(64 * kibi, maxRead), 4 * kibi, maxRead);
  const growAfter = integer('growAfter', 2, 1, 1000);
  const shrinkAfter = integer('shrinkAfter', 64, 1, 1_000_000);
  const raiseAfter = integer('raiseAfter', 8, 1, 1_000_000);
  const receiveBuffer = integer('receiveBuffer', -1, 0, most.buffer);
  const sendBuffer = integer('sendBuffer', 0, 0, most.buffer);
  const maxTurn =
    given.maxTurn === 0
      ? 0
      : integer('maxTurn', Math.max(512 * kibi, maxRead), maxRead, most.turn, ', or 0');
  return [minRead, maxRead, growAfter, shrinkAfter, raiseAfter, receiveBuffer, sendBuffer, maxTurn];
}
