/** The options of the command line: what they take, what they mean. */
import { optionLines } from '@millrace/base/command';
import { choice, flag, list, number, text, whole } from '../run/command.js';
import { MOST_SEED } from '../stats/random.js';
import { SIZES } from './plan.js';

export const OPTIONS = {
  control: text('COMMAND', 'starts the server without the feature'),
  treatment: text('COMMAND', 'starts it with the feature'),
  url: list('URL', 'what to request; several: in turn'),
  'control-env': list('NAME=VALUE', 'environment of the control'),
  'treatment-env': list('NAME=VALUE', 'environment of the treatment'),
  ws: text('URL', 'a WebSocket server, loaded by the generator'),
  protocol: text('NAME', 'of --ws: raw, chat or socket.io (raw)'),
  event: text('NAME', 'with socket.io: what clients send (message)'),
  reply: text('NAME', 'what the server sends on (the same event)'),
  data: text('JSON', 'arguments of --event, with {text} ("{text}")'),
  to: text('WHOM', 'who gets a message: everyone, others, sender'),
  script: text('FILE', 'your own module that loads --url'),
  health: text('PATH', 'answers with success when the server is up'),
  proof: text('REGEX', 'what only the treatment writes or answers'),
  ignore: text('REGEX', 'with --url: ignored when answers are compared'),
  html: text('FILE', 'writes the report as a page'),
  markdown: text('FILE', 'writes it as text'),
  results: text('FOLDER', 'for the raw samples'),
  'fail-on': text('FINDINGS', 'that exit with code 4, such as worse,undecided'),
  resume: flag('goes on with the last run of it that was stopped'),
  for: text('TIME', 'ends after a whole round, as 90m or 2h'),
  samples: whole(1, 1000, 'rounds; each measures every arm once (50, medium 20, quick 8)'),
  seconds: number(0.5, 86_400, 'measured time of a run (10, medium 5, quick 2)'),
  warmup: number(0, 3600, 'time before it, not measured (1)'),
  connections: whole(1, 10_000, 'clients (50); not of --url with --rate'),
  rate: number(0.01, 1_000_000, 'requests/s or messages/s, sent without waiting'),
  effect: number(0.1, 1000, 'smallest effect worth finding, percent (5)'),
  seed: whole(0, MOST_SEED, 'seed of everything random (random)'),
  size: choice('SIZE', SIZES, 'cases and rounds (paper)'),
  json: flag('JSON lines on stdout; text goes to stderr'),
};

/**
 * Of an experiment without a file. With fewer rounds in a quick one no effect on a metric but the first could be shown, however large:
 * p is corrected for their number.
 */
export const ROUNDS = { quick: 8, medium: 20, paper: 50 };
export const CONNECTIONS = 50;
export const WARMUP_S = 1;

const SECONDS = { quick: 2, medium: 5, paper: 10 };

/** The measured time of a run. @returns {number} seconds */
export const secondsOf = ({ seconds }, size) => seconds ?? SECONDS[size];

export const USAGE = `Usage: millrace experiment [FILE.js] [options]

Compares two ways to run the same server, in turn, and tells with an interval
which one is better, and by how much.

Does my server get faster with a flag that makes it use Millrace? Eight
rounds, a minute and a half:
  millrace experiment --control 'node app.js' \\
    --treatment 'node app.js --batched' --url http://127.0.0.1:3000/ \\
    --size quick

Does my flag lower the latency at 500 requests/s? {port} is a free port, --proof
matches what only a server with the flag writes or answers:
  millrace experiment --control 'node app.js {port}' \\
    --treatment 'node app.js {port} --cache' --url 'http://127.0.0.1:{port}/' \\
    --rate 500 --proof 'cache is on' --html report.html

An experiment in a file, with fewer rounds than its own:
  millrace experiment ./cache.js --samples 10

${optionLines(OPTIONS)}

Exit codes: 0 done, 1 failed, 2 bad option or experiment, 3 refused: no figure
counts, 4 found what --fail-on names, 130 stopped by Ctrl-C (SIGTERM 143, SIGHUP
129): whole rounds are kept.`;
