import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { copyCode } from '../native/code.js';
import { folderWith, millrace, PACKAGE } from './help.js';

/** A package @millrace/lab in a folder, whose command `experiment` prints its arguments; it has no other. */
function installLab(folder) {
  const lab = join(folder, 'node_modules/@millrace/lab');
  mkdirSync(lab, { recursive: true });
  const manifest = { name: '@millrace/lab', type: 'module', exports: { './cli': './cli.js' } };
  writeFileSync(join(lab, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(lab, 'cli.js'),
    'export const commands = { experiment: { run: async (argv) => console.log("mine", ...argv) } };',
  );
}

/** The program alone, as it is where no lab is installed. */
function aloneIn(folder) {
  const modules = join(folder, 'node_modules');
  copyCode(modules, ['base', 'millrace']);
  cpSync(join(PACKAGE, 'bin'), join(modules, 'millrace/bin'), { recursive: true });
  return join(modules, 'millrace');
}

test('without a command it says which there are', async () => {
  for (const args of [[], ['--help']]) {
    const { code, output } = await millrace(args);
    assert.equal(code, 0);
    assert.match(output, /^Usage: millrace COMMAND/);
    assert.match(output, /^ {2}compare .*\n {2}tune .*\n {2}experiment .*\n {2}report /m);
    assert.ok(output.split('\n').every((line) => line.length <= 80));
  }
});

test('each command explains itself, with examples', async () => {
  for (const name of ['run', 'observe', 'doctor', 'build']) {
    const { code, output, errors } = await millrace([name, '--help']);
    assert.equal(code, 0, errors);
    assert.match(output, new RegExp(`^Usage: millrace ${name} `));
    assert.match(output, new RegExp(`^ {2}millrace ${name}`, 'm'));
    assert.match(output, /^ {2}-h, --help +this text$/m);
    assert.ok(
      output.split('\n').every((line) => line.length <= 80),
      output,
    );
    if (name !== 'doctor') continue;
    assert.equal((await millrace(['help', name])).output, output);
    assert.equal((await millrace([name, '-h'])).output, output);
  }
});

test('build refuses what it cannot use', async () => {
  for (const [args, why] of [
    [['app.js'], /^millrace build: build takes options only, not app\.js\./],
    [['--seconds', '0'], /^millrace build: --seconds is 0; it is a whole number from 1 to 86400\./],
    [['--seconds', 'x'], /^millrace build: --seconds is x; /],
    [['--second'], /Did you mean --seconds\?/],
  ]) {
    const { code, errors } = await millrace(['build', ...args]);
    assert.equal(code, 2, errors);
    assert.match(errors, why);
  }
});

test('no help is wider than a terminal, those of the lab neither', async () => {
  const { output } = await millrace(['--help']);
  const found = [...output.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name);
  const names = ['run', 'observe', 'doctor', 'build', 'compare', 'tune', 'experiment', 'report'];
  assert.deepEqual(found, names);
  for (const name of names) {
    const { code, output, errors } = await millrace([name, '--help']);
    assert.equal(code, 0, errors);
    assert.match(output, new RegExp(`^Usage: millrace ${name}\\b`));
    for (const line of output.split('\n')) assert.ok(line.length <= 80, `${name}: ${line}`);
  }
});

test('a file without a command is answered with the way to start it', async (t) => {
  const cwd = folderWith(t, { 'app.js': '' });
  const { code, errors } = await millrace(['app.js'], { cwd });
  assert.equal(code, 2);
  assert.match(errors, /To start a file: millrace run app\.js\./);
});

test('it says its version', async () => {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  assert.equal((await millrace(['--version'])).output, `${version}\n`);
});

test('an unknown command is reported with the nearest one', async () => {
  const { code, errors } = await millrace(['experimnt']);
  assert.equal(code, 2);
  assert.match(errors, /^millrace has no command experimnt\. Did you mean experiment\?/);
  assert.doesNotMatch((await millrace(['x'])).errors, /Did you mean/);
  const asked = await millrace(['help', 'rnu']);
  assert.equal(asked.code, 2);
  assert.match(asked.errors, /^millrace has no command rnu\. Did you mean run\?/);
});

test('the lab of the working directory comes first', async (t) => {
  const cwd = folderWith(t);
  installLab(cwd);
  assert.equal(
    (await millrace(['experiment', '--size', 'quick', 'x'], { cwd })).output,
    'mine --size quick x\n',
  );
  const other = await millrace(['report'], { cwd });
  assert.equal(other.code, 1);
  assert.match(other.errors, /has no command report: its version does not match/);
});

test('without the lab it says how to install it', async (t) => {
  const { code, errors } = await millrace(['experiment'], { root: aloneIn(folderWith(t)) });
  assert.equal(code, 1);
  assert.match(
    errors,
    /needs the package @millrace\/lab, .* Run: npm install --save-dev @millrace\/lab/,
  );
});
