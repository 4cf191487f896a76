import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));

function folderFor(t) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function millrace(args, { root = PACKAGE, cwd = root } = {}) {
  return new Promise((resolve) => {
    const file = join(root, 'bin/millrace.js');
    execFile(process.execPath, [file, ...args], { cwd }, (error, output, errors) => {
      resolve({ code: error?.code ?? 0, output, errors });
    });
  });
}

/** A package millrace-lab in a folder, whose command `experiment` prints its arguments; it has no other. */
function installLab(folder) {
  const lab = join(folder, 'node_modules/millrace-lab');
  mkdirSync(lab, { recursive: true });
  const manifest = { name: 'millrace-lab', type: 'module', exports: { './cli': './cli.js' } };
  writeFileSync(join(lab, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(lab, 'cli.js'),
    'export const commands = { experiment: { run: async (argv) => console.log("mine", ...argv) } };',
  );
}

/** The program alone, as it is where no lab is installed. */
function aloneIn(folder) {
  for (const part of ['package.json', 'bin', 'dist/cli', 'dist/core/nearest.js']) {
    cpSync(join(PACKAGE, part), join(folder, part), { recursive: true });
  }
  return folder;
}

test('without a command it says which there are', async () => {
  for (const args of [[], ['--help']]) {
    const { code, output } = await millrace(args);
    assert.equal(code, 0);
    assert.match(output, /^Usage: millrace COMMAND/);
    assert.match(output, /^ {2}experiment .*\n {2}report /m);
  }
});

test('it says its version', async () => {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  assert.equal((await millrace(['--version'])).output, `${version}\n`);
});

test('an unknown command is told with the one that was meant', async () => {
  const { code, errors } = await millrace(['experimnt']);
  assert.equal(code, 2);
  assert.match(errors, /^experimnt is no command of millrace\. Did you mean experiment\?/);
  assert.doesNotMatch((await millrace(['x'])).errors, /Did you mean/);
});

test('the commands of the lab have their help', async () => {
  const experiment = await millrace(['experiment', '--help']);
  assert.equal(experiment.code, 0, experiment.errors);
  assert.match(experiment.output, /^Usage: millrace experiment/);
  const report = await millrace(['report', '--help']);
  assert.match(report.output, /^Usage: millrace report/);
});

test('the lab of the working directory comes first', async (t) => {
  const cwd = folderFor(t);
  installLab(cwd);
  assert.equal(
    (await millrace(['experiment', '--quick', 'x'], { cwd })).output,
    'mine --quick x\n',
  );
  const other = await millrace(['report'], { cwd });
  assert.equal(other.code, 1);
  assert.match(other.errors, /has no command report: it is of another version/);
});

test('without the lab it says how to install it', async (t) => {
  const { code, errors } = await millrace(['experiment'], { root: aloneIn(folderFor(t)) });
  assert.equal(code, 1);
  assert.match(
    errors,
    /needs the package millrace-lab, .* Run: npm install --save-dev millrace-lab/,
  );
});
