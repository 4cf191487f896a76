/** Runs the command line as users do: as a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin.js', import.meta.url));

/**
 * Starts it; it is ended with the test.
 *
 * @returns {{ child: import('node:child_process').ChildProcess, output: string, errors: string, ended: Promise<number | string>,
 *   until: (text: RegExp) => Promise<void> }} `until` waits for a text on either of its outputs
 */
export const start = (t, args, options) => startProgram(t, ['experiment', ...args], options);

/** The same, of the command `compare`. */
export const startCompare = (t, args) => startProgram(t, ['compare', ...args]);

/** The same, of the command `tune`. */
export const startTune = (t, args) => startProgram(t, ['tune', ...args]);

function startProgram(t, args, { cwd } = {}) {
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, [BIN, ...args], { cwd, stdio });
  const said = { child, output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.errors += text;
  });
  said.ended = once(child, 'close').then(([code, signal]) => signal ?? code);
  said.until = async (text) => {
    while (!text.test(said.output + said.errors)) {
      const heard = new AbortController();
      const { signal } = heard;
      const more = [child.stdout, child.stderr].map((stream) => once(stream, 'data', { signal }));
      const ended = said.ended.then((code) => {
        throw new Error(`it ended with ${code} before ${text}: ${said.output}${said.errors}`);
      });
      for (const each of more) each.catch(() => {});
      await Promise.race([...more, ended]).finally(() => heard.abort());
    }
  };
  t.after(async () => {
    child.kill('SIGTERM');
    await said.ended;
  });
  return said;
}

/** Processes whose command line has a text in it and that have not ended; not this one. */
export function processesWith(text) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    if (Number(pid) === process.pid) return false;
    return read(`/proc/${pid}/cmdline`).includes(text);
  });
}

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** What a folder has of results, by the name of the experiment. */
export function keptIn(folder, name) {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${name}-2`));
  return files.map((file) => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')));
}
