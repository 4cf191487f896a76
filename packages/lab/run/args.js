import { optionLines, UsageError } from '@millrace/base/command';
import { flag, readOnlyOptions, whole } from './command.js';

/** name: [default, least, most, meaning] */
const NUMBERS = {
  connections: [500, 2, 5000, 'clients'],
  rooms: [10, 1, 1000, 'rooms, each client is in one'],
  payload: [100, 40, 4000, "length of a message's text, bytes"],
  rate: [undefined, 1, 10_000_000, 'deliveries/s of the equal load'],
  rounds: [3, 0, 20, 'measurements of each arm and load; 0: none'],
  seconds: [3, 1, 60, 'length of a measurement, after 1 s of warm-up'],
  seed: [1, 0, 4_294_967_295, 'seed of everything random in the load'],
  port: [8080, 0, 65_535, 'of the chat at the end, or the next free one; 0: any'],
};

const OPTIONS = {
  ...Object.fromEntries(
    Object.entries(NUMBERS).map(([name, [otherwise, least, most, meaning]]) => [
      name,
      whole(least, most, `${meaning} (${otherwise ?? '2/3 of what direct does'})`),
    ]),
  ),
  keep: flag('leave the chat running even without a terminal'),
};

export const USAGE = `Usage: node packages/lab/run/demo.js [options]

Loads the chat of examples/chat in two ways, shows what each costs, and leaves
it running.

${optionLines(OPTIONS)}

Exit codes: 0 done, 1 failed, 2 bad option, 130 stopped by Ctrl-C.`;

/**
 * The demo's options.
 *
 * @param {string[]} argv
 * @returns {Record<keyof typeof NUMBERS, number> & { keep: boolean, help: boolean }} `rate` is
 *   undefined unless it is given
 * @throws {UsageError} one sentence: the option, its value, what is allowed
 */
export function readDemoArgs(argv) {
  const given = readOnlyOptions(argv, OPTIONS);
  const options = { ...given };
  for (const [name, [otherwise]] of Object.entries(NUMBERS)) options[name] ??= otherwise;
  // Fewer clients than rooms by default is not the user's mistake.
  if (given.rooms === undefined) options.rooms = Math.min(options.rooms, options.connections);
  if (options.rooms > options.connections) {
    throw new UsageError(
      `--rooms is "${options.rooms}"; allowed are whole numbers from 1 to the ${options.connections} connections.`,
    );
  }
  return options;
}
