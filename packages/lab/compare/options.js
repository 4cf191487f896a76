/** Options of `millrace compare`: the value of each, and its meaning. */
import { optionLines } from '@millrace/base/command';
import { EXIT_CODES, measuring, OUTPUT } from '../experiment/options.js';
import { list, number, text } from '../run/command.js';

/** Default number of rounds, the least that can show an effect on another metric than the first: p is corrected for the number of metrics. */
export const ROUNDS = 8;
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
  ws: text('URL', 'a WebSocket server, in place of --url'),
  connections,
  rate: {
    ...number(
      0.01,
      1_000_000,
      'requests/s or messages/s, sent without waiting (as fast as possible)',
    ),
    short: 'R',
  },
  script: text('FILE', 'your own module that loads --url'),
  protocol: text('NAME', 'of --ws: raw, chat or socket.io (raw)'),
  event: text('NAME', 'with socket.io: event that clients send (message)'),
  reply: text('NAME', 'event that the server sends on (the same)'),
  data: text('JSON', 'arguments of --event, with {text} ("{text}")'),
  to: text('WHOM', 'clients that get it: everyone, others, sender'),
  duration: { ...duration, heading: 'Measuring' },
  warmup: number(0, 3600, `seconds before that, not measured (${WARMUP_S})`),
  rounds,
  effect,
  seed,
  proof: {
    ...text('REGEX', "text that only B writes or answers (Millrace's counters)"),
    heading: 'Checks',
  },
  ignore: text('REGEX', 'left out when responses to --url are compared'),
  health: text('PATH', 'answers with success when the server is up'),
  ...OUTPUT,
};

export const USAGE = `Usage: millrace compare 'A' 'B' --url URL [options]

Says which of two ways to run your server is better, by how much, and how sure
that is. A and B are commands that start the server. They run in turns under the
same load, each in a fresh process, and must send the same responses.

Is my server better with Millrace? A minute and a half:
  millrace compare 'node app.js' 'node --import millrace/auto app.js' \\
    --url http://127.0.0.1:3000/

Does my cache lower the latency at 500 requests/s? {port} becomes a free port,
--proof matches a text that only B prints or answers:
  millrace compare 'node app.js {port}' 'node app.js {port} --cache' \\
    --url 'http://127.0.0.1:{port}/' -R 500 --proof 'cache is on'

A smaller difference takes more and longer rounds, here half an hour:
  millrace compare 'A' 'B' --url URL -n 50 -d 10 --html report.html

${optionLines(OPTIONS)}

${EXIT_CODES}`;
