/**
 * No answer reaches another user: random requests of several users to random stacks of real middleware around `cached()`, in which
 * the answers say in random ways, and as late as possible, whom they are for. FUZZ_SECONDS lengthens it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { plan, start } from './cached-stacks.js';

/** So long that no random session has one in it by chance. */
const users = ['alice-of-atlantis', 'bob-of-babylon', 'carol-of-carthage'];
const requests = 24;

/** Headers of a random request of a user. */
function headersOf(user, planned, random, tags) {
  const pick = (list) => list[random(list.length)];
  const host = `${user}.example`;
  const encoding = pick([undefined, 'gzip', 'br', 'deflate', 'identity', 'gzip, br']);
  const tag = random(3) === 0 ? tags.get(user) : undefined;
  const all = {
    'x-user': user,
    'accept-encoding': encoding,
    origin: random(3) === 0 ? `https://${user}.example` : undefined,
    'if-none-match': tag,
    cookie: random(8) === 0 ? `name=${user}` : undefined,
  };
  if (planned.sight === 'forwarded host') all['x-forwarded-host'] = host;
  if (planned.sight.startsWith('host')) {
    const other = `${pick(users)}.example`;
    if (planned.shape !== 'HTTP/2') all.host = host;
    else Object.assign(all, pick([{ ':authority': host }, { ':authority': other, host }]));
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** One client for both protocols: resolves with `{ status, headers, body }`. */
function clientOf({ shape }, port) {
  if (shape === 'HTTP/2') {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const ask = async (method, headers) => {
      const stream = session.request({ ':path': '/', ':method': method, ...headers });
      const [head] = await once(stream, 'response');
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      return { status: head[':status'], headers: head, body: Buffer.concat(chunks) };
    };
    return { ask, close: () => session.destroy() };
  }
  const agent = new Agent({ keepAlive: true });
  const ask = async (method, headers) => {
    const req = request({ port, host: '127.0.0.1', method, headers, agent });
    req.end();
    const [res] = await once(req, 'response');
    const chunks = [];
    for await (const chunk of res) chunks.push(chunk);
    return { status: res.statusCode, headers: res.headers, body: Buffer.concat(chunks) };
  };
  return { ask, close: () => agent.destroy() };
}

const decoders = { gzip: gunzipSync, br: brotliDecompressSync, deflate: inflateSync };

/** What of an answer to a user is another's, in words; null: nothing. A request may name two, the user and a host. */
function leak(asking, { status, headers, body }, isHead) {
  const { 'x-expected': expected, ...others } = headers;
  for (const user of users.filter((each) => each !== asking && each !== expected)) {
    const found = Object.entries(others).find(([, value]) => String(value).includes(user));
    if (found) return `the header ${found} in the answer to ${asking} and ${expected}`;
  }
  if (status === 304 || isHead) return null;
  assert.equal(status, 200);
  const decode = decoders[headers['content-encoding']] ?? ((bytes) => bytes);
  const { user } = JSON.parse(decode(body).toString());
  return user === expected ? null : `the answer of ${user} to ${expected}`;
}

/** Plays the stack of a seed. Resolves with the leak that was found, or null, and with the statistics of `cached()`. */
async function play(seed, options) {
  const random = randomNumbers(seed);
  const planned = plan(random, options);
  const server = await start(planned, random);
  const client = clientOf(planned, server.port);
  const tags = new Map();
  let found = null;
  try {
    for (let asked = 0; asked < requests && found === null; ) {
      const wave = Array.from({ length: 1 + random(4) }, async () => {
        const user = users[random(users.length)];
        const method = random(6) === 0 ? 'HEAD' : 'GET';
        const answer = await client.ask(method, headersOf(user, planned, random, tags));
        if (answer.headers.etag && answer.headers['x-expected'] === user) {
          tags.set(user, answer.headers.etag);
        }
        return leak(user, answer, method === 'HEAD');
      });
      asked += wave.length;
      found = (await Promise.all(wave)).find((each) => each !== null) ?? null;
    }
  } finally {
    client.close();
    await server.close();
  }
  return { found, planned, stats: server.stats() };
}

test('no answer of a random stack reaches another user', async () => {
  let shared = 0;
  for (const seed of seeds(50)) {
    const { found, planned, stats } = await play(seed);
    assert.equal(found, null, `seed ${seed}: ${found}, in ${JSON.stringify(planned)}`);
    shared += stats.hits + stats.deduplicated;
  }
  // Or nothing was there that could reach anybody.
  assert.ok(shared > 30, `${shared} answers were shared`);
});

test('this test finds answers that say to nobody whom they are for', async () => {
  let found = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const { planned, found: leaked } = await play(seed, { declared: false });
    if (planned.sight === 'header' && leaked !== null) found++;
  }
  assert.ok(found > 3, `${found} of 20`);
});
