/** Options of `millrace tune`: the value of each, and its meaning. */
import { optionLines } from '@millrace/base/command';
import { EXIT_CODES, measuring, OUTPUT } from '../experiment/options.js';
import { list, number, text } from '../run/command.js';

/** Least number of rounds: with fewer, no switch among many can be shown to be better, as p is corrected for their number. */
export const ROUNDS = 10;
export const DURATION_S = 2;
export const WARMUP_S = 1;
export const CONNECTIONS = 50;

const { connections, duration, rounds, effect, seed } = measuring({
  connections: `${CONNECTIONS}`,
  duration: `${DURATION_S}`,
  rounds: `${ROUNDS}`,
});

export const OPTIONS = {
  url: { ...list('URL', 'address to request; several: in turn'), heading: 'Load' },
  connections,
  rate: {
    ...number(0.01, 1_000_000, 'requests/s, sent without waiting (as fast as possible)'),
    short: 'R',
  },
  only: {
    ...text('NAMES', 'switches to try: semi-space, threadpool, auto'),
    heading: 'Switches',
  },
  without: text('NAMES', 'switches that are not tried'),
  env: list('NAME=VALUE', 'one more switch, such as WEB_CONCURRENCY=2'),
  duration: { ...duration, heading: 'Measuring' },
  warmup: number(0, 3600, `seconds before that, not measured (${WARMUP_S})`),
  rounds,
  effect,
  for: text('TIME', 'ends after a whole round, such as 10m or 2h'),
  seed,
  ignore: { ...text('REGEX', 'left out when responses are compared'), heading: 'Checks' },
  health: text('PATH', 'answers with success when the server is up'),
  ...OUTPUT,
};

export const USAGE = `Usage: millrace tune COMMAND --url URL [options]

Tries switches on your server, and prints the command line that won, or that
none did. COMMAND starts the server as it is. Each switch is tried by itself:
the server with it and the server without it run in turns under the same load,
each in a fresh process, and must send the same responses.

  millrace tune 'node server.js' --url http://127.0.0.1:3000/

It tries the size of V8's young generation, the number of threads of libuv,
millrace/auto and each of its features alone where millrace is installed, and
what --env names. All of it takes some eight minutes; the plan is printed first.
At a rate the CPU per request decides, otherwise the throughput:

  millrace tune 'node server.js' --url http://127.0.0.1:3000/ -R 500 \\
    --only threadpool --env WEB_CONCURRENCY=2

${optionLines(OPTIONS)}

${EXIT_CODES}`;
