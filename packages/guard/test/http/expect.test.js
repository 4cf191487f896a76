/** `Expect: 100-continue`: nobody is asked for a body that will not be read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guard } from '@millrace/guard';
import { block, connect, connectAll, patient, serve, serveFull } from './wire.js';

const expecting = { method: 'POST', headers: { Expect: '100-continue', 'Content-Length': 5 } };

/** Answers with the body it was sent. */
async function echo(req, res) {
  let text = '';
  for await (const chunk of req) text += chunk;
  res.end(text);
}

test('an admitted request gets 100 Continue, once', async (t) => {
  const { server } = await serve(t, echo);
  const g = guard(server, patient);
  t.after(() => g.close());
  const client = await connect(t, server);
  client.send('/', expecting);
  assert.equal(await client.status(), 100);
  client.write('hello');
  const response = await client.response();
  assert.deepEqual([response.status, response.body], [200, 'hello']);
  assert.equal(g.stats().classes.normal.admitted, 1);
});

test('a waiting request gets it when its turn has come', async (t) => {
  const order = [];
  const { server } = await serve(t, (req, res) => {
    order.push(req.url);
    if (req.url !== '/busy') return echo(req, res);
    block();
    res.end();
  });
  const g = guard(server, patient);
  t.after(() => g.close());
  const [busy, client] = await connectAll(t, server, 2);
  busy.send('/busy');
  client.send('/upload', expecting);
  assert.equal(await client.status(), 100);
  client.write('hello');
  assert.equal((await client.response()).body, 'hello');
  assert.deepEqual(order, ['/busy', '/upload']);
});

test('one that is turned away is not told', async (t) => {
  const { server, fill, handled } = await serveFull(t);
  const client = await connect(t, server);
  await fill(() => client.send('/shed', expecting));
  const response = await client.response();
  assert.equal(response.status, 503);
  // It may send its body now or not, which only a new connection tells apart.
  assert.equal(response.headers.connection, 'close');
  await client.closed;
  assert.deepEqual(handled, ['/running', '/waiting']);
});

test("the application's own listener decides, and may hand over to 'request'", async (t) => {
  const seen = [];
  const { server } = await serve(t, (req, res) => {
    seen.push('request');
    echo(req, res);
  });
  const g = guard(server, patient);
  t.after(() => g.close());
  server.on('checkContinue', (req, res) => {
    seen.push('checkContinue');
    if (req.url === '/no') {
      res.writeHead(413).end();
      return;
    }
    res.writeContinue();
    server.emit('request', req, res);
  });
  const client = await connect(t, server);
  client.send('/yes', expecting);
  assert.equal(await client.status(), 100);
  assert.equal((await client.write('hello').response()).body, 'hello');
  client.send('/no', expecting);
  assert.equal(await client.status(), 413);
  assert.deepEqual(seen, ['checkContinue', 'request', 'checkContinue']);
  assert.equal(g.stats().classes.normal.admitted, 2);
});

test('other expectations come to their listener, or are refused by node:http', async (t) => {
  const { server } = await serve(t, (req, res) => res.end('never'));
  const g = guard(server, patient);
  t.after(() => g.close());
  const client = await connect(t, server);
  client.send('/', { headers: { Expect: 'tea' } });
  assert.equal(await client.status(), 417);
  server.on('checkExpectation', (req, res) => res.writeHead(418).end());
  client.send('/', { headers: { Expect: 'tea' } });
  assert.equal(await client.status(), 418);
  assert.equal(g.stats().classes.normal.admitted, 1);
});

test('a closed guard leaves no listener behind', async (t) => {
  const { server } = await serve(t, echo);
  guard(server).close();
  assert.equal(server.listenerCount('checkContinue'), 0);
  const client = await connect(t, server);
  client.send('/', expecting);
  assert.equal(await client.status(), 100);
  assert.equal((await client.write('hello').response()).body, 'hello');
});
