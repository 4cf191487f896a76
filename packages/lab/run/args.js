import { parseArgs } from 'node:util';

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

const FLAGS = {
  keep: 'leave the chat running even without a terminal',
  help: 'this text',
};

export const USAGE = `Usage: node packages/lab/run/demo.js [options]

Loads the chat of examples/chat in two ways, shows what each costs, and leaves
it running.

${Object.entries(NUMBERS).map(numberUsage).join('\n')}
${Object.entries(FLAGS)
  .map(([name, meaning]) => line(`--${name}`, meaning))
  .join('\n')}

Exit codes: 0 done, 1 failed, 2 bad option, 130 stopped by Ctrl-C.`;

/**
 * The demo's options.
 *
 * @param {string[]} argv
 * @returns {Record<keyof typeof NUMBERS, number> & { keep: boolean, help: boolean }} `rate` is
 *   undefined unless it is given
 * @throws {Error} one sentence: the option, its value, what is allowed
 */
export function readArgs(argv) {
  const values = parse(argv);
  const options = { keep: values.keep ?? false, help: values.help ?? false };
  for (const [name, [otherwise, least, most]] of Object.entries(NUMBERS)) {
    options[name] = values[name] === undefined ? otherwise : whole(name, values[name], least, most);
  }
  // Fewer clients than rooms by default is not the user's mistake.
  if (values.rooms === undefined) options.rooms = Math.min(options.rooms, options.connections);
  if (options.rooms > options.connections) {
    throw new Error(
      `--rooms is "${options.rooms}"; allowed are whole numbers from 1 to the ${options.connections} connections.`,
    );
  }
  return options;
}

function parse(argv) {
  const names = [...Object.keys(NUMBERS), ...Object.keys(FLAGS)];
  const { tokens, values } = parseArgs({
    args: argv,
    options: Object.fromEntries(
      names.map((name) => [name, { type: name in FLAGS ? 'boolean' : 'string' }]),
    ),
    strict: false,
    tokens: true,
  });
  for (const { kind, name, rawName, value } of tokens) {
    if (kind === 'option-terminator') continue;
    if (!names.includes(name)) {
      const allowed = names.map((each) => `--${each}`).join(', ');
      throw new Error(`${rawName ?? value} is not an option; allowed are ${allowed}.`);
    }
    if (name in FLAGS && value !== undefined) {
      throw new Error(`--${name} is "${value}"; it takes no value.`);
    }
    if (name in NUMBERS && value === undefined) {
      throw new Error(`--${name} has no value; ${range(name)}.`);
    }
  }
  return values;
}

function whole(name, value, least, most) {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new Error(`--${name} is "${value}"; ${range(name)}.`);
}

function range(name) {
  const [, least, most] = NUMBERS[name];
  return `allowed are whole numbers from ${least} to ${most}`;
}

function numberUsage([name, [otherwise, , , meaning]]) {
  return line(`--${name} N`, `${meaning} (${otherwise ?? '2/3 of what direct does'})`);
}

function line(option, meaning) {
  return `  ${option.padEnd(17)} ${meaning}`;
}
