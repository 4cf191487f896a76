import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NAMES } from '../servers/index.js';
import { change, EventReader, request, runToEnd, SMALL, startMain } from './support.js';

test('the page, its API and its events', async (t) => {
  const { url } = await startMain(t);

  await t.test('every file of the page is there, and only those', async () => {
    const page = await request(url, '/');
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-security-policy'), /default-src 'none'/);
    const links = Array.from(page.body.matchAll(/(?:src|href)="(\/[^"]*)"/g), ([, path]) => path);
    assert.ok(links.includes('/app.js') && links.includes('/style.css'));
    for (const path of [...links, '/chart.js', '/rows.js', '/numbers.js', '/uplot.js']) {
      assert.equal((await request(url, path)).status, 200, path);
    }
    assert.equal((await request(url, '/../package.json')).status, 404);
    assert.equal((await request(url, '/main.js')).status, 404);
  });

  await t.test('about: the servers, and what the page has to know of them', async () => {
    const { body } = await request(url, '/api/about');
    assert.equal(body.capacity, 10);
    assert.deepEqual(
      body.servers.map(({ name }) => name),
      NAMES,
    );
  });

  await t.test('another one on the same port ends, and says why', async () => {
    const { port } = new URL(url);
    const { code, errors } = await runToEnd(['--port', port, ...SMALL]);
    assert.equal(errors, `The example ended: port ${port} is taken; --port 0 takes any.\n`);
    assert.equal(code, 1);
  });

  await t.test('settings that are wrong are refused and change nothing', async () => {
    const before = (await request(url, '/api/settings')).body;
    assert.deepEqual(before, { version: 0, load: 0, target: 'turns', current: null });
    for (const [settings, message] of [
      [{ load: 11 }, /load must be <= 10/],
      [{ load: -1 }, /load must be >= 0/],
      [{ load: '2' }, /load must be number/],
      [{ load: null }, /load must be number/],
      [{ target: 'nobody' }, /target must be equal to one of/],
      [{ rate: 5 }, /additional properties/],
      [{}, /fewer than 1/],
      ['{', /JSON/],
    ]) {
      const { status, body } = await change(url, settings);
      assert.equal(status, 400, JSON.stringify(settings));
      assert.match(body.message, message);
    }
    const text = { method: 'PUT', body: '{"load":1}', headers: { 'content-type': 'text/plain' } };
    assert.equal((await request(url, '/api/settings', text)).status, 415);
    assert.deepEqual((await request(url, '/api/settings')).body, before);
  });

  await t.test('events: what was, then what happens, a server after the other', async (t) => {
    const events = await EventReader.open(t, url);
    const results = await events.next('results');
    assert.deepEqual(Object.keys(results), NAMES);
    const first = await events.next('settings');
    // A visitor finds the page at work.
    assert.deepEqual(first, { version: 1, load: 2, target: 'turns', current: null });

    await events.next('settings', ({ current }) => current === NAMES[0]);
    const { summary, load } = await events.next('point', ({ name, summary }) => {
      return name === NAMES[0] && summary?.fresh > 0;
    });
    assert.equal(load, 2);
    assert.ok(summary.offered > 0);
    await events.next('settings', ({ current }) => current === NAMES[1]);

    // A page that comes later is told what there was.
    const later = await EventReader.open(t, url);
    const known = (await later.next('results'))[NAMES[0]];
    assert.ok(known.points.length >= 2);
    assert.equal(known.load, 2);

    await change(url, { target: 'guarded' });
    await events.next('settings', ({ current }) => current === 'guarded');
    await events.next('point', ({ name, summary }) => name === 'guarded' && summary?.offered > 0);
    await change(url, { load: 0 });
    await events.next('settings', ({ load, current }) => load === 0 && current === null);

    // A stopped load stays stopped for a page that comes later.
    const last = await EventReader.open(t, url);
    assert.equal((await last.next('settings')).load, 0);
  });
});
