import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { folderWith, millrace, start } from './help.js';

const SHOW = `console.log(JSON.stringify({
  args: process.argv.slice(2), file: process.argv[1], execArgv: process.execArgv, cwd: process.cwd(), env: process.env }))`;

const QUIET = ['--no-dashboard'];

/** Runs a file that shows what it was started with. */
async function shown(t, args, { env, files = { 'show.cjs': SHOW } } = {}) {
  const cwd = folderWith(t, files);
  const { code, output, errors } = await millrace(args, { cwd, env });
  assert.equal(code, 0, errors);
  return { ...JSON.parse(output), folder: cwd, errors };
}

test('arguments after the file are the application’s, as they are', async (t) => {
  const given = ['--port', '3', '-x', 'a b', '', '--', '--no-dashboard', '$HOME "q"', '--help'];
  const { args, file, folder, cwd } = await shown(t, ['run', ...QUIET, 'show.cjs', ...given]);
  assert.deepEqual(args, given);
  assert.equal(cwd, folder);
  assert.equal(file, join(folder, 'show.cjs'));
});

test('auto is loaded first, by --require, so that the main file is loaded as without it', async (t) => {
  const files = { 'main.cjs': 'console.log(require.main === module, module.id, module.parent)' };
  const cwd = folderWith(t, files);
  assert.equal((await millrace(['run', ...QUIET, 'main.cjs'], { cwd })).output, 'true . null\n');
  const { execArgv } = await shown(t, ['run', ...QUIET, 'show.cjs']);
  assert.equal(execArgv[0], '--require');
  assert.match(execArgv[1], /dist\/auto\/start\.cjs$/);
});

test('files are found as node finds them: ES modules, without extension, folders', async (t) => {
  const cwd = folderWith(t, {
    'main.mjs': 'console.log(import.meta.url.slice(-8))',
    'plain.js': 'console.log("plain", typeof require)',
    'folder/index.js': 'console.log("index")',
    'a folder/the app.js': 'console.log("blank")',
  });
  const output = async (file) => (await millrace(['run', ...QUIET, file], { cwd })).output;
  assert.equal(await output('main.mjs'), 'main.mjs\n');
  assert.equal(await output('plain'), 'plain function\n');
  assert.equal(await output('./folder'), 'index\n');
  assert.equal(await output('a folder/the app.js'), 'blank\n');
});

test('after -- stands what node is given', async (t) => {
  const args = ['run', ...QUIET, '--', '--stack-size=900', '--no-warnings', 'show.cjs', '--x'];
  const { execArgv, args: own } = await shown(t, args);
  assert.deepEqual(execArgv.slice(2), ['--stack-size=900', '--no-warnings']);
  assert.deepEqual(own, ['--x']);
  const { output } = await millrace(['run', ...QUIET, '--', '-p', '6 * 7']);
  assert.equal(output, '42\n');
});

test('a missing argument is reported in a sentence, with the nearest one', async (t) => {
  const cwd = folderWith(t, { 'server.js': '', 'empty/x.js': '' });
  const cases = [
    [['run'], /the file to start, is missing/],
    [['run', '--'], /nothing follows --/],
    [['run', 'sever.js'], /there is no file sever\.js in .*Did you mean server\.js\?/],
    [['run', 'sub/sever.js'], /there is no file sub\/sever\.js in /],
    [['run', 'empty'], /empty is a folder without an index\.js/],
    [['run', '--prt', '1', 'server.js'], /there is no --prt\. Did you mean --port\?/],
    [['run', '--import', 'tsx', 'server.js'], /--import is an option of Node\.js; put -- before/],
    [['run', '--port', 'server.js'], /FILE, the file to start, is missing/],
    [
      ['run', '--port', '--host', 'x', 'server.js'],
      /--port has no value, but takes N; what follows is --host/,
    ],
    [
      ['run', '--port', '99999', 'server.js'],
      /--port is 99999; it must be an integer from 0 to 65535/,
    ],
    [['run', '--no-dashboard=1', 'server.js'], /--no-dashboard takes no value/],
    [
      ['run', '--with', 'guart', 'server.js'],
      /"guart", which is not a feature\. Did you mean guard\?/,
    ],
    [['run', '--with', 'net', '--without', 'net', 'server.js'], /in both --with and --without/],
    [['run', '--config', 'none.json', 'server.js'], /there is no file none\.json for --config/],
    [
      ['run', '--token', 'short', 'server.js'],
      /--token is <string>; it must be a text of at least 8/,
    ],
    [['observe', '--json', 'none/x.json', 'server.js'], /there is no folder none/],
    [['observe', '--json', 'empty', 'server.js'], /which is a folder/],
    [['observe', 'sever.js'], /Did you mean server\.js/],
  ];
  await Promise.all(
    cases.map(async ([args, expected]) => {
      const { code, output, errors } = await millrace(args, { cwd });
      assert.equal(code, 2, `${args}: ${errors}`);
      assert.match(errors, expected);
      assert.equal(errors.trim().split('\n').length, 1, errors);
      assert.match(
        errors,
        new RegExp(`^millrace ${args[0]}: .* See millrace ${args[0]} --help\\.$`, 'm'),
      );
      assert.equal(output, '');
    }),
  );
});

test('a file of TypeScript is started where Node.js or a loader can', async (t) => {
  const cwd = folderWith(t, { 'app.ts': 'const n: number = 7; console.log(n);' });
  const tsx = import.meta.resolve('tsx');
  const { output } = await millrace(['run', ...QUIET, '--', '--import', tsx, 'app.ts'], { cwd });
  assert.equal(output, '7\n');
  const env = { NODE_OPTIONS: `--import=${tsx}` };
  assert.equal((await millrace(['run', ...QUIET, 'app.ts'], { cwd, env })).output, '7\n');
  const plain = await millrace(['run', ...QUIET, 'app.ts'], { cwd });
  if (process.features.typescript) assert.equal(plain.output, '7\n');
  else assert.match(plain.errors, /app\.ts is TypeScript, .* -- --import tsx app\.ts\./);
});

test('switches reach the application as variables', async (t) => {
  const args = ['run', '--with', 'net, guard', '--without=fs', '--config', 'my.json', 'show.cjs'];
  const files = { 'show.cjs': SHOW, 'my.json': '{}' };
  const env = { MILLRACE: 'no-ws', MILLRACE_FEED: '127.0.0.1:1', MILLRACE_FEED_TOKEN: 'of others' };
  const { env: seen, folder } = await shown(t, [...args.slice(0, 1), ...QUIET, ...args.slice(1)], {
    env,
    files,
  });
  assert.equal(seen.MILLRACE, 'no-ws,net,guard,no-fs,no-dashboard');
  assert.equal(seen.MILLRACE_CONFIG, join(folder, 'my.json'));
  assert.equal(seen.MILLRACE_DASHBOARD, undefined);
  assert.equal(seen.MILLRACE_FEED_TOKEN, undefined);
});

test('the exit code is the application’s', async (t) => {
  const cwd = folderWith(t, {
    'seven.js': 'process.exitCode = 7',
    'throws.js': 'throw new Error("x")',
    'killed.js': 'process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000)',
    'syntax.js': 'const',
  });
  const codeOf = async (file) => (await millrace(['run', ...QUIET, file], { cwd })).code;
  assert.equal(await codeOf('seven.js'), 7);
  assert.equal(await codeOf('throws.js'), 1);
  assert.equal(await codeOf('syntax.js'), 1);
  assert.equal(await codeOf('killed.js'), 128 + constants.signals.SIGKILL);
});

test('standard input is passed on', async (t) => {
  const cwd = folderWith(t, { 'cat.js': 'process.stdin.pipe(process.stdout)' });
  const input = 'line\n'.repeat(50_000);
  const { output } = await millrace(['run', ...QUIET, 'cat.js'], { cwd, input });
  assert.equal(output, input);
});

test('signals are passed on, each once', async (t) => {
  const cwd = folderWith(t, {
    'signals.js': `for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(name, () => console.log(name));
      process.on('SIGQUIT', () => process.exit(5)); setInterval(() => {}, 1000); console.log('up')`,
  });
  const { child, ended, seen } = start(['run', ...QUIET, 'signals.js'], { cwd, input: null });
  await seen('up');
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) {
    child.kill(name);
    await seen(name);
  }
  child.kill('SIGQUIT');
  const { code, output } = await ended;
  assert.equal(code, 5);
  assert.equal(output, 'up\nSIGINT\nSIGTERM\nSIGHUP\nSIGUSR2\n');
});

test('a signal that the application does not handle ends it: 128 and its number', async (t) => {
  const cwd = folderWith(t, { 'waits.js': 'setInterval(() => {}, 1000); console.log("up")' });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    const { child, ended, seen } = start(['run', ...QUIET, 'waits.js'], { cwd, input: null });
    await seen('up');
    child.kill(name);
    assert.deepEqual((await ended).code, 128 + constants.signals[name]);
  }
});
