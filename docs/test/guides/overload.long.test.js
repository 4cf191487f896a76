/** The guide "Survive overload", followed: its server and its clients, without the guard and with it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../../packages/lab/run/up.js';
import { workplace } from '../lib/javascript.js';
import { snippetsOf } from '../lib/snippets.js';

const page = snippetsOf('docs/guides/overload.md');
const code = (name) => page.find((snippet) => snippet.name === name).code;
const LISTEN = /^(?=server\.listen)/m;

test('without a guard nobody is refused; with it health checks never are, nor checkouts before reports', async (t) => {
  const folder = workplace();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = code('the-program');
  assert.match(server, LISTEN);
  writeFileSync(join(folder, 'server.js'), server);
  writeFileSync(join(folder, 'guarded.js'), server.replace(LISTEN, code('the-change')));
  writeFileSync(join(folder, 'load.js'), code('the-program-2'));

  const bare = await loaded(t, folder, 'server.js');
  for (const [asked, row] of Object.entries(bare)) assert.equal(row.refused, 0, asked);

  const guarded = await loaded(t, folder, 'guarded.js');
  assert.equal(guarded['GET /health'].refused, 0);
  const served = ({ asked, refused, left }) => (asked - refused - left) / asked;
  assert.ok(guarded['GET /reports/1'].refused > 0);
  assert.ok(served(guarded['POST /checkout']) >= served(guarded['GET /reports/1']));
});

/** What the clients count of a server: rows by request. */
async function loaded(t, folder, file) {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, PORT: String(await freePort()) };
  const start = (args) => {
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const server = start([file]);
  while ((await health(env.PORT)) !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
  const load = start(['load.js', '2']);
  let printed = '';
  load.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  await once(load, 'close');
  server.kill();
  const rows = [...printed.matchAll(/^(\w+ \S+) \{.*\}$/gm)].map(([line, asked]) => [asked, line]);
  assert.equal(rows.length, 4, printed);
  return Object.fromEntries(rows.map(([asked, line]) => [asked, rowOf(line)]));
}

function rowOf(line) {
  const [asked, good, late, refused, left] = line.match(/(?<=: )\d+/g).map(Number);
  assert.ok(good + late + refused + left <= asked, line);
  return { asked, refused, left };
}

const health = (port) =>
  fetch(`http://127.0.0.1:${port}/health`).then(
    ({ status }) => status,
    () => null,
  );
