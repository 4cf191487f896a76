/** Output that a command cannot write is an error; a reader that has gone is none. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { cleanEnv, folderWith, PROGRAM, WORKER } from './help.js';

/** A command with its stdout, or another stream, at the end of a shell's line. */
function shell(line, [program, ...args], { cwd, env = {} } = {}) {
  const file = program === 'millrace' ? PROGRAM : WORKER;
  const child = spawn('bash', ['-c', line, 'bash', process.execPath, file, ...args], {
    cwd,
    env: cleanEnv(env),
  });
  let errors = '';
  child.stderr.on('data', (data) => {
    errors += data;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, errors })));
}

const skip = !existsSync('/dev/full') && 'needs /dev/full';
const isOwn = (line) =>
  /^(millrace|millrace-worker|Failed): stdout cannot be written: ENOSPC/.test(line);

const commands = [
  ['millrace'],
  ['millrace', '--version'],
  ['millrace', 'run', '--help'],
  ['millrace', 'doctor'],
  ['millrace', 'doctor', '--json'],
  ['millrace', 'experiment'],
  ['millrace', 'compare', '--help'],
  ['millrace', 'report', '--help'],
  ['millrace-worker', '--help'],
];

for (const args of commands) {
  test(`${args.join(' ')}, with a full disk and with a reader that goes away`, {
    skip,
  }, async (t) => {
    const cwd = folderWith(t);
    const full = await shell('"$@" > /dev/full', args, { cwd });
    assert.equal(full.code, 1);
    assert.equal(full.errors.split('\n').filter(isOwn).length, 1, full.errors);
    const gone = await shell('set -o pipefail; "$@" | true', args, { cwd });
    assert.equal(gone.code, 0, gone.errors);
    assert.doesNotMatch(gone.errors, /Error|EPIPE|cannot be written/);
  });
}

test('a report of observe that stderr does not take', { skip }, async (t) => {
  const cwd = folderWith(t, { 'app.cjs': '', 'seven.cjs': 'process.exitCode = 7' });
  const code = async (file) =>
    (await shell('"$@" 2> /dev/full', ['millrace', 'observe', file], { cwd })).code;
  assert.equal(await code('app.cjs'), 1);
  assert.equal(await code('seven.cjs'), 7);
});
