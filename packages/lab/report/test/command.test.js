import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sampleResults } from './sample.js';

const BIN = fileURLToPath(new URL('../../bin.js', import.meta.url));

describe('millrace-lab report', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-report-'));
  after(() => rmSync(folder, { recursive: true }));
  const at = (name) => join(folder, name);
  const run = (...args) =>
    spawnSync(process.execPath, [BIN, 'report', ...args], { encoding: 'utf8' });
  const good = at('good.json');
  writeFileSync(good, JSON.stringify(sampleResults({ rounds: 6 })));

  test('writes both files, and says where', () => {
    const { status, stdout, stderr } = run(
      good,
      good,
      '--html',
      at('a.html'),
      '--markdown',
      at('a.md'),
    );
    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(stdout, `report: ${at('a.html')}\nreport: ${at('a.md')}\n`);
    assert.match(
      readFileSync(at('a.html'), 'utf8'),
      /^<!doctype html>.*2 experiments.*<\/html>\n$/s,
    );
    assert.match(readFileSync(at('a.md'), 'utf8'), /^# 2 experiments/);
  });

  test('prints Markdown when no file is named', () => {
    const { status, stdout } = run(good);
    assert.equal(status, 0);
    assert.match(stdout, /^# Does a chat server deliver .*\n\n\*\*/);
  });

  test('text that nobody gets is an error, and a reader that has enough is none', {
    skip: !existsSync('/dev/full') && 'needs /dev/full',
  }, () => {
    const shell = (line) =>
      spawnSync('bash', ['-c', line, 'bash', process.execPath, BIN, 'report', good], {
        encoding: 'utf8',
      });
    const full = shell('"$@" > /dev/full');
    assert.equal(full.status, 1);
    assert.match(full.stderr, /^bin: stdout cannot be written: ENOSPC.*\.\n$/);
    const gone = shell('set -o pipefail; "$@" | true');
    assert.deepEqual([gone.status, gone.stderr], [0, '']);
  });

  test('a file that holds no results is named, with what is wrong', () => {
    writeFileSync(at('cut.json'), '{"format": 1, "fig');
    writeFileSync(at('other.json'), '{"format": 1, "experiment": 7}');
    for (const [path, message] of [
      [at('none.json'), /none\.json cannot be read: ENOENT/],
      [folder, /cannot be read: EISDIR/],
      [at('cut.json'), /cut\.json is not valid JSON: /],
      [
        at('other.json'),
        /other\.json holds no results of an experiment: experiment is 7; it must be a text/,
      ],
    ]) {
      const { status, stdout, stderr } = run(good, path, '--html', at('b.html'));
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, message);
      assert.match(stderr, /^Failed: [^\n]+\n$/);
    }
    assert.equal(existsSync(at('b.html')), false);
  });

  test('a report that cannot be written: the path, and why', () => {
    const paths = [at('no/such/folder.html')];
    // A disk that is full, where the system has one to try it with.
    if (existsSync('/dev/full')) paths.push('/dev/full');
    for (const path of paths) {
      const { status, stderr } = run(good, '--html', path);
      assert.equal(status, 1);
      assert.ok(stderr.startsWith(`Failed: the report ${path} was not written: E`), stderr);
    }
  });

  test('bad options', () => {
    for (const [args, message] of [
      [[], /no file of results is named/],
      [[good, '--html', ''], /--html has no value/],
      [[good, '--pdf', 'x'], /--pdf/],
    ]) {
      const { status, stderr } = run(...args);
      assert.equal(status, 2);
      assert.match(stderr, message);
    }
    const help = run('--help');
    assert.equal(help.status, 0);
    assert.match(help.stdout, /^Usage: millrace report/);
  });
});
