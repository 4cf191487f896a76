import { parseArgs } from 'node:util';

export const USAGE = `Usage: node main.js [options]

  --port N       of the page, 0 to 65535 (default 8100; 0: any)
  --cursors N    how many move, 1 to 10000 (default 1000)
  --rate N       moves a second, of all of them, 1 to 100000 (default 20000)
  --slow N       how many times slower the slow readers are, 1 to 10000
                 (default 100)

  --measure      no page: readers in another process, and a table
  --readers N    that keep up, 0 to 2000 (default 499), with --measure
  --seconds S    how long, 5 to 600 (default 20), with --measure
  --help`;

const OPTIONS = {
  port: { type: 'string' },
  cursors: { type: 'string' },
  rate: { type: 'string' },
  slow: { type: 'string' },
  measure: { type: 'boolean' },
  readers: { type: 'string' },
  seconds: { type: 'string' },
  help: { type: 'boolean' },
};

/** Options of the command line. @throws {Error} with one sentence: the option, its value, what is allowed */
export function readArgs(argv) {
  const { values } = parse(argv);
  for (const name of ['readers', 'seconds']) {
    if (values[name] !== undefined && !values.measure) {
      throw new Error(`--${name} is an option of --measure.`);
    }
  }
  const number = (name, least, most, otherwise) => {
    const value = values[name];
    if (value === undefined) return otherwise;
    if (/^\d+$/.test(value) && Number(value) >= least && Number(value) <= most) {
      return Number(value);
    }
    throw new Error(
      `--${name} is ${JSON.stringify(value)}; allowed are whole numbers from ${least} to ${most}.`,
    );
  };
  return {
    port: number('port', 0, 65_535, 8100),
    cursors: number('cursors', 1, 10_000, 1000),
    rate: number('rate', 1, 100_000, 20_000),
    slow: number('slow', 1, 10_000, 100),
    measure: values.measure ?? false,
    readers: number('readers', 0, 2000, 499),
    seconds: number('seconds', 5, 600, 20),
    help: values.help ?? false,
  };
}

function parse(argv) {
  try {
    return parseArgs({ args: argv, options: OPTIONS });
  } catch (error) {
    throw new Error(`${error.message.split('. ')[0]}. --help lists the options.`);
  }
}
