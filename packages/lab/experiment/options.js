/** The options of the command line: what they take, what they mean. */

/** name: [least, most, whether whole, meaning] */
export const NUMBERS = {
  samples: [1, 1000, true, 'rounds; each measures every arm once (50, quick 8)'],
  seconds: [0.5, 86_400, false, 'measured time of a run (10, quick 2)'],
  warmup: [0, 3600, false, 'time before it, not measured (1)'],
  connections: [1, 10_000, true, 'clients (50); not of --url with --rate'],
  rate: [0.01, 1_000_000, false, 'requests/s or messages/s, sent without waiting'],
  effect: [0.1, 1000, false, 'smallest effect worth finding, percent (5)'],
  seed: [0, 4_294_967_295, true, 'seed of everything random (random)'],
};

/** name: [what it takes, meaning] */
export const TEXTS = {
  control: ['COMMAND', 'starts the server without the feature'],
  treatment: ['COMMAND', 'starts it with the feature'],
  ws: ['URL', 'a WebSocket server, loaded by the generator'],
  protocol: ['NAME', 'of --ws: raw, chat or socket.io (raw)'],
  event: ['NAME', 'with socket.io: what clients send (message)'],
  reply: ['NAME', 'what the server sends on (the same event)'],
  data: ['JSON', 'arguments of --event, with {text} ("{text}")'],
  to: ['WHOM', 'who gets a message: everyone, others, sender'],
  script: ['FILE', 'your own module that loads --url'],
  health: ['PATH', 'answers with success when the server is up'],
  proof: ['REGEX', 'what only the treatment writes or answers'],
  ignore: ['REGEX', 'with --url: ignored when answers are compared'],
  html: ['FILE', 'writes the report as a page'],
  markdown: ['FILE', 'writes it as text'],
  results: ['FOLDER', 'for the raw samples'],
  'fail-on': ['FINDINGS', 'that exit with code 4, such as worse,undecided'],
};

/** May be given several times. */
export const LISTS = {
  url: ['URL', 'what to request; several: in turn'],
  'control-env': ['NAME=VALUE', 'environment of the control'],
  'treatment-env': ['NAME=VALUE', 'environment of the treatment'],
};

export const FLAGS = {
  quick: 'few rounds, small cases',
  json: 'JSON lines on stdout; text goes to stderr',
  help: 'this text (-h)',
};

/**
 * Of an experiment without a file. With fewer rounds in a quick one no effect on a metric but the first could be shown, however large:
 * p is corrected for their number.
 */
export const ROUNDS = { full: 50, quick: 8 };
export const CONNECTIONS = 50;
export const WARMUP_S = 1;

/** The measured time of a run. @returns {number} seconds */
export const secondsOf = ({ seconds }, quick) => seconds ?? (quick ? 2 : 10);

const line = (option, meaning) => `  ${option.padEnd(27)} ${meaning}`;
const taking = (options) =>
  Object.entries(options).map(([name, [what, meaning]]) => line(`--${name} ${what}`, meaning));

/** What is asked for comes right after who is asked. */
const { control, treatment, ...otherTexts } = TEXTS;

export const USAGE = `Usage: millrace experiment [NAME | FILE.js] [options]

Compares two ways to run the same server, in turn, and tells with an interval
which one is better, and by how much. Without arguments it lists the available
experiments.

Does my server get faster with a flag that makes it use Millrace? Eight
rounds, a minute and a half:
  millrace experiment --control 'node app.js' \\
    --treatment 'node app.js --batched' --url http://127.0.0.1:3000/ --quick

Does my flag lower the latency at 500 requests/s? {port} is a free port, --proof
matches what only a server with the flag writes or answers:
  millrace experiment --control 'node app.js {port}' \\
    --treatment 'node app.js {port} --cache' --url 'http://127.0.0.1:{port}/' \\
    --rate 500 --proof 'cache is on' --html report.html

An experiment in a file, with fewer rounds than its own:
  millrace experiment ./cache.js --samples 10

${taking({ control, treatment, ...LISTS, ...otherTexts }).join('\n')}
${Object.entries(NUMBERS)
  .map(([name, [, , , meaning]]) => line(`--${name} N`, meaning))
  .join('\n')}
${Object.entries(FLAGS)
  .map(([name, meaning]) => line(`--${name}`, meaning))
  .join('\n')}

Exit codes: 0 done, 1 failed, 2 bad option or experiment, 3 refused: no figure
counts, 4 found what --fail-on names, 130 stopped by Ctrl-C (SIGTERM 143, SIGHUP
129): whole rounds are kept.`;
