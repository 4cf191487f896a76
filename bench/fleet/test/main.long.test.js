/** The command, as it is called. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../model.js', import.meta.url));
const docs = fileURLToPath(new URL('../../../docs/benchmarks/fleet.md', import.meta.url));

function run(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('the command', () => {
  test('tells one fleet, for people and as JSON', () => {
    const { status, stdout } = run('--connections', '1e5', '--members', '2:0.9,1000:0.1');
    assert.equal(status, 0);
    assert.match(stdout, /^connections +100 k\nmachines +\d/);
    const json = JSON.parse(run('--profile', 'pairs', '--turn-us', '70', '--json').stdout);
    assert.equal(json.scenario.turnUs, 70);
    assert.deepEqual(json.scenario.members, [[2, 1]]);
    assert.equal(json.isPossible, true);
  });

  test('has every input among its options', () => {
    const { status, stdout } = run('--help');
    assert.equal(status, 0);
    assert.match(stdout, /--connection-kb N +memory of a connection in its node/);
    assert.ok(stdout.split('\n').every((line) => line.length <= 80));
  });

  test('refuses what is wrong in one sentence', () => {
    for (const [args, message] of [
      [['--rate', 'x'], /main\.js: --rate is "x"; it must be a number\. See [^\n]+ --help\.\n$/],
      [['--rate=-1'], /^Failed: rate is -1; allowed are numbers from 0 to 100000\.\n$/],
      [['--profile', 'none'], /: there is no profile "none"; there are chat, /],
      [['--members', '2:1:3'], /: --members has "2:1:3"; it must be/],
      [['--speed', '3'], /: there is no --speed\./],
      [['--html', ''], /: --html has no value; it takes FILE\./],
    ]) {
      const { status, stderr } = run(...args);
      assert.equal(status, 2, args.join(' '));
      assert.match(stderr, message);
    }
  });

  test('says when no fleet will do', () => {
    const { status, stderr } = run('--connections', '1e8', '--cells', '1');
    assert.equal(status, 1);
    assert.match(stderr, /^no fleet will do: /);
  });

  test('writes the page and the document; the one in docs is what it writes', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-fleet-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const [html, markdown] = ['fleet.html', 'fleet.md'].map((name) => join(folder, name));
    assert.equal(run('--html', html, '--markdown', markdown).status, 0);
    const page = readFileSync(html, 'utf8');
    assert.match(page, /<svg[^>]* aria-label="Brokers"/);
    // On a telephone a table has no heads.
    assert.match(page, /data-label="broker bottleneck"/);
    assert.doesNotMatch(page, /<td(?![^>]* data-label=)/);
    assert.doesNotMatch(page, /<script|NaN|undefined|Infinity|https?:\/\/(?!www\.w3\.org)/);
    const text = readFileSync(markdown, 'utf8');
    assert.doesNotMatch(text, /NaN|undefined|Infinity/);
    assert.equal(
      text,
      readFileSync(docs, 'utf8'),
      'node bench/fleet/model.js --markdown docs/benchmarks/fleet.md',
    );
    const bad = run('--html', join(folder, 'none', 'fleet.html'));
    assert.equal(bad.status, 1);
    assert.match(bad.stderr, /was not written/);
  });
});
