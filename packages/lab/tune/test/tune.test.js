// The command tune: it plans, tries each switch on a real server, and ends in a command line or in none.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { keptIn, startTune } from '../../experiment/test/program.js';
import { folderFor } from '../../experiment/test/support.js';

/** A server on a port that answers after some work of the threadpool; `BROKEN` keeps it from starting. */
const PROGRAM = `
  const { pbkdf2 } = require('node:crypto');
  const [, , port] = process.argv;
  if (process.env.BROKEN) throw new Error('no such mode: ' + process.env.BROKEN);
  const server = require('node:http').createServer((req, res) => {
    pbkdf2('a', 'b', 100, 8, 'sha1', () => res.end(process.env.BODY ?? 'done'));
  });
  // A busy lab may take seconds to ask again.
  server.keepAliveTimeout = 0;
  server.listen(Number(port), '127.0.0.1');
`;

function tune(t, more) {
  const folder = folderFor(t);
  const app = join(folder, 'app.cjs');
  writeFileSync(app, PROGRAM);
  const command = `${process.execPath} ${app} {port}`;
  const results = join(folder, 'results');
  const said = startTune(t, [
    ...[command, '--url', 'http://127.0.0.1:{port}/', '--results', results],
    // At a rate that any machine can bring.
    ...['-R', '20', '-d', '0.5', '--warmup', '0', '-n', '1', ...more],
  ]);
  return { said, kept: () => keptIn(results, 'tune')[0] };
}

describe('millrace tune', () => {
  test('measures the command as it is, once more, and with each switch', async (t) => {
    const { said, kept } = tune(t, [
      ...['--only', 'threadpool', '--without', 'threadpool 8', '--env', 'MODE=2'],
    ]);
    assert.equal(await said.ended, 0, said.errors);
    assert.match(said.output, /^Which switch makes the server better\?$/m);
    assert.match(said.output, /^Arms: as it is, threadpool 16, MODE=2, and as it is once more\.$/m);
    assert.match(said.output, /^4 runs, \d+ s or more; fewer switches: --only/m);
    assert.match(said.output, /Not tried: .*pipelined of millrace\/pg/s);
    const { arms, runs, notes, question } = kept();
    assert.equal(question, 'Which switch makes the server better?');
    const env = Object.fromEntries(arms.map((each) => [each.name, each.env]));
    assert.equal(env['threadpool 16'].UV_THREADPOOL_SIZE, '16');
    assert.deepEqual([env['MODE=2'], env['as it is']], [{ MODE: '2' }, {}]);
    assert.ok(runs.length >= 4);
    assert.ok(arms.every(({ command: [shell] }) => shell === 'sh'));
    // One round shows nothing.
    assert.ok(
      notes.some((note) => /^None of 2 switches made the server surely better/.test(note)),
      notes.join('\n'),
    );
  });

  test('leaves out a switch with which the server does not start, with what it said', async (t) => {
    const only = ['--only', 'threadpool', '--without', 'threadpool 8'];
    const { said } = tune(t, [...only, '--env', 'BROKEN=yes']);
    assert.equal(await said.ended, 0, said.errors);
    assert.match(
      said.output,
      /Not tried: BROKEN=yes\s+ended\s+unexpectedly\s+.*no\s+such\s+mode:\s+yes/s,
    );
    assert.match(said.output, /^Arms: as it is, threadpool 16, and as it is once more\.$/m);
  });

  test('is refused where a switch changes the responses, with the way out', async (t) => {
    const { said } = tune(t, ['--only', 'threadpool', '--env', 'BODY=longer']);
    assert.equal(await said.ended, 3, said.output);
    assert.match(said.errors, /leave it out \(--without NAME\)/);
  });

  test('fails with what the command said, when it does not start', async (t) => {
    const said = startTune(t, [
      ...['echo "no such database" >&2; exit 7', '--url', 'http://127.0.0.1:{port}/'],
    ]);
    assert.equal(await said.ended, 1);
    assert.match(said.errors, /^Failed: as it is ended .* code 7: no such database\.$/m);
  });

  test('explains itself', async (t) => {
    const said = startTune(t, ['--help']);
    assert.equal(await said.ended, 0);
    assert.match(said.output, /^Usage: millrace tune COMMAND --url URL/);
  });
});
