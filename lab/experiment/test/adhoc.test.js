import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { keptIn, processesWith, start } from './program.js';
import { folderFor } from './support.js';

const BRIEF = ['--samples', '1', '--warmup', '0'];

/** Runs two commands of a server that answers `body`, and says `mode` on stdout when it is given one. */
function compare(
  t,
  {
    control = 'body',
    treatment = 'body fast',
    before = '',
    seconds = 0.5,
    more = [],
    url = '/',
    isOpen = more.includes('--rate'),
  },
) {
  const folder = folderFor(t);
  const app = join(folder, 'app.cjs');
  writeFileSync(
    app,
    `const [, , port, body, mode] = process.argv;
    require('http').createServer((q, r) => {
      if (q.url.startsWith('/port/') && q.url !== '/port/' + port) r.statusCode = 500;
      r.end(body);
    }).listen(Number(port), '127.0.0.1', () => {
      const fill = () => mode === 'long' && console.log('x'.repeat(1000));
      for (let i = 0; i < 200; i += 1) fill();
      if (mode) console.log('mode: ' + mode, process.env.EXTRA);
      for (let i = 0; i < 200; i += 1) fill();
      const kept = [];
      if (mode === 'leak') setInterval(() => kept.push(Buffer.alloc(1e6, 1)), 20);
    });`,
  );
  const command = (args) => `${before} ${process.execPath} ${app} {port} ${args}`;
  const results = join(folder, 'results');
  const said = start(t, [
    ...['--control', command(control), '--treatment', command(treatment)],
    ...['--url', `http://127.0.0.1:{port}${url}`, '--results', results, ...BRIEF, ...more],
    ...(isOpen ? [] : ['--connections', '2']),
    ...['--seconds', `${seconds}`],
  ]);
  return { said, folder, kept: () => keptIn(results, 'experiment')[0] };
}

test('two commands are compared, with a proof that the feature is on in one of them', async (t) => {
  const env = ['--treatment-env', 'EXTRA=port {port}', '--proof', 'mode: fast port \\d+'];
  const { said, folder, kept } = compare(t, { more: env });
  assert.equal(await said.ended, 0, said.errors);
  const { figures, metrics, runs, arms, refusal } = kept();
  const isJudged = ({ name, better }) => name.startsWith('p') && name.endsWith('_ms') && better;
  assert.equal(metrics.some(isJudged), false, 'in a closed loop latency is only shown');
  assert.equal(refusal, null);
  assert.equal(figures[0].metric, 'answers_per_s');
  assert.ok(figures[0].control > 0 && figures[0].n === 1);
  assert.equal(runs.length, 3);
  assert.match(arms[1].command.join(' '), /^sh -c .*app\.cjs \d+ body$/);
  assert.deepEqual(processesWith(join(folder, 'app.cjs')), []);
});

test('bodies of different size are refused, with both figures', async (t) => {
  const { said } = compare(t, { treatment: 'longerbody fast', more: ['--proof', 'mode: fast'] });
  assert.equal(await said.ended, 3);
  assert.match(said.errors, /bytes per answer of 'GET \/': 4 in control, 10 in treatment/);
});

test('without a sign of the feature it is refused, with the option that gives one', async (t) => {
  const { said } = compare(t, {});
  assert.equal(await said.ended, 3, said.errors);
  assert.match(said.errors, /the feature was not at work in the treatment/);
  assert.match(said.errors, /Millrace's own counters .* or give --proof REGEX/);
});

test('a proof that is seen in both is refused', async (t) => {
  const { said } = compare(t, { control: 'body fast', more: ['--proof', 'mode: fast'] });
  assert.equal(await said.ended, 3);
  assert.match(
    said.errors,
    /at work in the control.*\n--proof "mode: fast" is in the control, too, in its output: "mode: fast /,
  );
});

test('a rate is an open loop, and the cost of an answer comes first', async (t) => {
  const more = ['--rate', '10', '--proof', 'mode', '--markdown'];
  const { said, folder, kept } = compare(t, { more: [...more, join(folderFor(t), 'report.md')] });
  assert.equal(await said.ended, 0, said.errors);
  const { metrics, runs } = kept();
  assert.equal(metrics[0].name, 'cpu_us_per_answer');
  assert.equal(metrics[1].better, 'lower');
  assert.equal(runs[0].work[0].answers, 5);
  const report = /^report \(markdown\): (.*)$/m.exec(said.output)[1];
  assert.match(readFileSync(report, 'utf8'), /Is the treatment better than the control\?/);
  assert.ok(folder);
});

test('memory that rises in one arm is told', async (t) => {
  const more = ['--proof', 'mode: leak'];
  const { said, kept } = compare(t, { treatment: 'body leak', seconds: 2, more });
  assert.equal(await said.ended, 0, said.errors);
  const told = kept().notes.find((note) => note.startsWith('Memory of treatment'));
  assert.match(told, /^Memory of treatment rose by \d+\.\d MB\/s/);
  assert.ok(said.output.includes('Memory of treatment rose'), said.output);
});

test('a server that does not start fails it with what it said', async (t) => {
  const said = start(t, [
    ...['--control', 'echo "no such database" >&2; exit 7'],
    ...['--treatment', 'echo "no such database" >&2; exit 8'],
    ...['--url', 'http://127.0.0.1:{port}/', '--proof', 'x'],
  ]);
  assert.equal(await said.ended, 1);
  assert.match(said.errors, /Failed: \w+ ended unexpectedly with code [78]: no such database\.$/m);
});

test('a command may be all that a shell understands', async (t) => {
  const { said, folder } = compare(t, {
    before: `EXTRA='a b' NODE_OPTIONS="--max-old-space-size=512 --expose-gc"`,
    more: ['--proof', 'mode: fast a b'],
  });
  assert.equal(await said.ended, 0, said.errors);
  assert.deepEqual(processesWith(join(folder, 'app.cjs')), []);
});

test('a proof in the middle of a long log is found', async (t) => {
  const { said } = compare(t, { treatment: 'body long', more: ['--proof', 'mode: long'] });
  assert.equal(await said.ended, 0, said.errors);
});

test('the path of --health has the port, too', async (t) => {
  const more = ['--proof', 'mode: fast', '--health', '/port/{port}'];
  const { said } = compare(t, { more });
  assert.equal(await said.ended, 0, said.errors);
});

test('what is ignored may differ', async (t) => {
  for (const flags of [[], ['--rate', '20']]) {
    const given = ['--proof', 'mode: fast', ...flags];
    const wanted = { control: 'body-1', treatment: 'body-2 fast' };
    const refused = compare(t, { ...wanted, more: given });
    assert.equal(await refused.said.ended, 3, refused.said.output);
    const ignored = compare(t, { ...wanted, more: [...given, '--ignore', '-\\d'] });
    assert.equal(await ignored.said.ended, 0, ignored.said.errors);
  }
});
