import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';
import { cleanEnv, folderWith, millrace, PROGRAM } from './help.js';

/**
 * A command on a terminal of its own, made by script(1); `keys` are pressed there. Its shell
 * is named, as they differ: some stay as the command's parent, and end by its Ctrl-C.
 */
function onTerminal(t, command, { cwd, env = {} }) {
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd,
    env: cleanEnv({ TERM: 'xterm', SHELL: '/bin/sh', ...env }),
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  const watchers = new Set();
  child.stdout.on('data', (data) => {
    output += data;
    for (const watcher of watchers) watcher();
  });
  const ended = new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, output }));
  });
  const seen = (pattern) =>
    new Promise((resolve, reject) => {
      const watcher = () => {
        const match = pattern.exec(output);
        if (match !== null) resolve(match);
      };
      watchers.add(watcher);
      ended.then(() => reject(new Error(`ended without ${pattern}: ${output}`)));
      watcher();
    });
  return { keys: (text) => child.stdin.write(text), ended, seen };
}

const quoted = (...words) => words.map((word) => `'${word}'`).join(' ');
const CTRL_C = '\x03';

test('Ctrl-C reaches the application once', { skip: process.platform !== 'linux' }, async (t) => {
  const cwd = folderWith(t, {
    'app.js': `process.on('SIGINT', () => console.log('got SIGINT'));
      process.on('SIGUSR2', () => process.exit(3));
      setInterval(() => {}, 1000); console.log(\`parent \${process.ppid} \${process.stdin.isTTY}\`);`,
  });
  const command = quoted(process.execPath, PROGRAM, 'run', '--no-dashboard', 'app.js');
  const { keys, ended, seen } = onTerminal(t, `exec ${command}`, { cwd });
  const [, parent] = await seen(/parent (\d+) true/);
  keys(CTRL_C);
  await seen(/got SIGINT/);
  // What is passed on comes after all that was passed on before.
  process.kill(Number(parent), 'SIGUSR2');
  const { code, output } = await ended;
  assert.equal(code, 3);
  assert.equal(output.match(/got SIGINT/g).length, 1, output);
});

test('Ctrl-C ends an application that does not handle it', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const cwd = folderWith(t, { 'app.js': 'setInterval(() => {}, 1000); console.log("up")' });
  const command = quoted(process.execPath, PROGRAM, 'run', '--no-dashboard', 'app.js');
  const { keys, ended, seen } = onTerminal(t, `trap : INT; ${command}; echo code $?`, { cwd });
  await seen(/up/);
  keys(CTRL_C);
  await seen(/code 130/);
  await ended;
});

test('doctor is coloured on terminals alone, and not with NO_COLOR', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const cwd = folderWith(t);
  const command = quoted(process.execPath, PROGRAM, 'doctor');
  const colour = '\x1b[';
  assert.ok((await onTerminal(t, command, { cwd }).ended).output.includes(colour));
  const env = { NO_COLOR: '1' };
  assert.ok(!(await onTerminal(t, command, { cwd, env }).ended).output.includes(colour));
  assert.ok(!(await millrace(['doctor'], { cwd })).output.includes(colour));
});
