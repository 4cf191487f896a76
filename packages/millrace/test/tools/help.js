/** The program `millrace` as tests call it. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));
export const PROGRAM = join(PACKAGE, 'bin/millrace.js');
/** That of `@millrace/nats`. */
export const WORKER = join(PACKAGE, '../nats/bin/millrace-worker.js');

/** A folder with files, by name; gone after the test. Its name has a blank. */
export function folderWith(t, files = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace cli-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** The environment of a test run, without what is set for tests or by whom runs them. */
export function cleanEnv(more = {}) {
  const env = { ...process.env };
  for (const name of Object.keys(env)) {
    if (name.startsWith('MILLRACE') || name === 'NODE_OPTIONS' || name === 'NODE_TEST_CONTEXT') {
      delete env[name];
    }
  }
  return { ...env, ...more };
}

/** Starts a program of a package; `ended` resolves to its code, signal and output. `seen(text)` waits for that in its output and resolves to what is on stderr. */
export function start(
  args,
  { program = 'millrace', root = PACKAGE, cwd = root, env = {}, input = '' } = {},
) {
  const file = program === 'millrace' ? join(root, 'bin/millrace.js') : WORKER;
  const child = spawn(process.execPath, [file, ...args], { cwd, env: cleanEnv(env) });
  let output = '';
  let errors = '';
  const watchers = new Set();
  const look = () => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.on('data', (data) => {
    output += data;
    look();
  });
  child.stderr.on('data', (data) => {
    errors += data;
    look();
  });
  if (input !== null) child.stdin.end(input);
  const ended = new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, output, errors }));
  });
  const seen = (text) =>
    new Promise((resolve, reject) => {
      const watcher = () => {
        if (!`${output}${errors}`.includes(text)) return;
        watchers.delete(watcher);
        resolve(errors);
      };
      watchers.add(watcher);
      ended.then(() => reject(new Error(`ended without ${text}: ${output}${errors}`)));
      watcher();
    });
  return { child, ended, seen };
}

/** Runs the program to its end. */
export const millrace = (args, options) => start(args, options).ended;
