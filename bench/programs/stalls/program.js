/**
 * `node program.js KIND TRIES SETTLE`: blocks its loop in this way, so many times, with a rest between. Prints a line for each block, with the
 * number and time of its beginning, and one with those of its end, which is the next turn of the loop.
 */
import { writeSync } from 'node:fs';
import { kinds } from './kinds.js';

/** Rest in ms, in which the loop is idle and a watch of any kind gets ready again. */
const restMs = 500;
/** Time in ms for the last report. */
const lastMs = 2000;

// SETTLE: time in ms until the first block, in which the watch starts.
const [kind, tries, settle] = process.argv.slice(2);
const block = kinds[kind].make();
const print = (what, number) => writeSync(1, `${what} ${number} ${Date.now()}\n`);

function handler(number) {
  print('begin', number);
  block();
  setImmediate(() => {
    print('end', number);
    if (number < Number(tries)) rest(number + 1);
    else setTimeout(() => process.exit(), lastMs);
  });
}

const rest = (number, ms = restMs) => setTimeout(handler, ms, number);

rest(1, Number(settle));
