import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { buildGenerator } from './build.js';
import { LabError } from './errors.js';

export { buildGenerator } from './build.js';
export { LabError } from './errors.js';

const EXIT_ERRORS = { 2: 'MILLRACE_LAB_E_INVALID_OPTION', 3: 'MILLRACE_LAB_E_CONNECT' };
const KILL_AFTER_MS = 5000;

/**
 * Loads a WebSocket server on this machine and checks every delivery.
 *
 * @param {Record<string, string | number | boolean>} options the generator's options in camel case
 *   (`deliveriesRate` for `--deliveries-rate`); `true` gives a flag, `false` and `undefined` leave
 *   the option out. README.md lists them.
 * @param {object} [control]
 * @param {(progress: { second: number, phase: string, open: number, deliveries: number,
 *   sends: number, outstanding: number, waiting: number, faults: number }) => void}
 *   [control.onProgress] called once a second; counts are of that second, `faults` of the run
 * @param {(mark: 'begin' | 'end') => void} [control.onMark] called when the measured window begins, and when it ends
 * @param {AbortSignal} [control.signal] ends the run; the promise is rejected with its reason once
 *   the generator is gone
 * @returns {Promise<object>} the generator's report as README.md describes it. A delivery fault is
 *   a result (`ok` is false), not an error.
 * @throws {LabError} `MILLRACE_LAB_E_INVALID_OPTION`, `MILLRACE_LAB_E_CONNECT`,
 *   `MILLRACE_LAB_E_BUILD` or `MILLRACE_LAB_E_GENERATOR`
 */
export async function runLoad(options, { onProgress, onMark, signal } = {}) {
  signal?.throwIfAborted();
  const generator = await buildGenerator();
  signal?.throwIfAborted();

  const child = spawn(generator, [...toArguments(options), '--progress', 'json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A driver that ends takes its generator along.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let killTimer;
  const stop = () => {
    child.kill('SIGTERM');
    killTimer = setTimeout(kill, KILL_AFTER_MS);
  };
  signal?.addEventListener('abort', stop, { once: true });

  try {
    const { code, output, message } = await finished(child, { onProgress, onMark });
    signal?.throwIfAborted();
    if (code === 0 || code === 1) return JSON.parse(output);
    throw new LabError(
      EXIT_ERRORS[code] ?? 'MILLRACE_LAB_E_GENERATOR',
      message || `the load generator ended with ${code}`,
    );
  } finally {
    clearTimeout(killTimer);
    signal?.removeEventListener('abort', stop);
    process.removeListener('exit', kill);
  }
}

/** `{ deliveriesRate: 5, noAcks: true }` becomes `['--deliveries-rate=5', '--no-acks']`. */
function toArguments(options) {
  return Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([key, value]) => {
      const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      return value === true ? `--${name}` : `--${name}=${value}`;
    });
}

/** Waits for the end; lines of JSON on stderr are progress or marks, all others the message. */
function finished(child, { onProgress, onMark }) {
  return new Promise((resolve, reject) => {
    let output = '';
    const messages = [];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    const lines = createInterface({ input: child.stderr });
    lines.on('line', (line) => {
      if (!line.startsWith('{')) {
        messages.push(line.replace(/^millrace-load: /, ''));
        return;
      }
      const told = JSON.parse(line);
      if (told.mark) onMark?.(told.mark);
      else onProgress?.(told);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({ code: code ?? signal, output, message: messages.join('\n') });
    });
  });
}
