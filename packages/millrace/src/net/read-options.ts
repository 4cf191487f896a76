/** The options of `enlarge()`: meaning, default and range. */
import { parse, refused } from '@millrace/base/options';
import * as is from '@millrace/base/schema';

/** Options of `enlarge()`. */
export interface EnlargeOptions {
  /** Bytes the read size starts at and falls back to: 4,096 to `maxRead`; default 65,536, as Node reads without it. */
  minRead?: number;
  /** Largest read size in bytes: up to 16 MiB; default 262,144. Larger ones were not faster, and cost memory. */
  maxRead?: number;
  /** Full reads in a row after which it doubles: 1 to 1,000; default 2. */
  growAfter?: number;
  /** Reads in a row that fill less than a quarter, after which it halves: 1 to 1,000,000; default 64. */
  shrinkAfter?: number;
  /** Full reads at `maxRead` after which the buffers of the system are raised: 1 to 1,000,000; default 8. */
  raiseAfter?: number;
  /**
   * The receive buffer of the system (SO_RCVBUF) to raise to, in bytes, as far as the system allows: 0, which leaves it, to
   * 2^31 - 1. Default 4 MiB, or 0 where the system's own tuning goes further than it lets programs ask for. Set to 0 for long
   * and fast paths, which may hold more than this: a raised buffer is no longer tuned by the system.
   */
  receiveBuffer?: number;
  /** The send buffer (SO_SNDBUF) likewise, in bytes: 0 to 2^31 - 1; default 0. */
  sendBuffer?: number;
  /**
   * Bytes of full reads after which the other sockets get their turn: `maxRead` to 1 GiB; default 524,288, or `maxRead` if
   * that is more. 0: after 32 reads, as without it. A larger value delays the rest of the loop.
   */
  maxTurn?: number;
}

const kibi = 1024;
const mebi = kibi * kibi;
const most = { read: 16 * mebi, turn: kibi * mebi, buffer: 2 ** 31 - 1 };

const size = is.bytes(4 * kibi, most.read);

export const enlargeSchema = is.schema({
  minRead: size,
  maxRead: size,
  growAfter: is.integer(1, 1000, 2),
  shrinkAfter: is.integer(1, 1_000_000, 64),
  raiseAfter: is.integer(1, 1_000_000, 8),
  // -1: what the system's own tuning makes best.
  receiveBuffer: is.or(is.bytes(0, most.buffer), -1),
  sendBuffer: is.bytes(0, most.buffer, 0),
  maxTurn: is.bytes(0, most.turn),
} satisfies is.FieldsOf<EnlargeOptions>);

/** Options for the addon: a number for each, in the order of the schema; a `receiveBuffer` below 0 is the system's. */
export type ReadOptions = readonly number[];
export const readOptionCount = enlargeSchema.names.length;

/** Checks the options and completes them. Throws MILLRACE_E_INVALID_OPTION. */
export function readOptions(given: EnlargeOptions): ReadOptions {
  const what = 'enlarge()';
  const options = parse(what, given, enlargeSchema);
  const { growAfter, shrinkAfter, raiseAfter, receiveBuffer, sendBuffer } = options;
  const { maxRead = Math.max(256 * kibi, options.minRead ?? 0) } = options;
  const { minRead = Math.min(64 * kibi, maxRead) } = options;
  const { maxTurn = Math.max(512 * kibi, maxRead) } = options;
  if (maxRead < minRead) {
    throw refused(what, 'maxRead', maxRead, `at least 'minRead', which is ${minRead}`);
  }
  if (maxTurn > 0 && maxTurn < maxRead) {
    throw refused(what, 'maxTurn', maxTurn, `0, or at least 'maxRead', which is ${maxRead}`);
  }
  return [minRead, maxRead, growAfter, shrinkAfter, raiseAfter, receiveBuffer, sendBuffer, maxTurn];
}
