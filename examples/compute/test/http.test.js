import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { until } from '../../../scripts/lib/program-tests.js';
import { fibonacciPair } from '../compute/fibonacci.js';
import { startPhotos } from '../photos/start.js';
import { BODIES } from './bodies.js';
import { counted, countsOf, listen, rawConnection, request, start, upload } from './support.js';

/** A request with headers that fetch() sees to itself. */
async function ask(url, { path = '/health', ...options }) {
  const sent = http.request(url + path, options).end();
  const [response] = await once(sent, 'response');
  const body = await text(response);
  const isJson = /json/.test(response.headers['content-type']);
  return [response.statusCode, isJson ? JSON.parse(body) : body];
}

const hash = (text) => createHash('sha256').update(text).digest('hex');

test('a Fibonacci number, on the main thread and in the pool, by both algorithms', async (t) => {
  const { url } = await start(t);
  const text = fibonacciPair(20_000, 'doubling')[0].toString();
  for (const path of ['/fibonacci-single', '/fibonacci']) {
    for (const algorithm of ['paper', 'doubling']) {
      const { status, body } = await request(url, `${path}?n=20000&algorithm=${algorithm}`);
      assert.equal(status, 200);
      assert.deepEqual(
        [body.n, body.algorithm, body.thread, body.digits, body.first, body.last, body.sha256],
        [
          20_000,
          algorithm,
          path === '/fibonacci' ? 'worker' : 'main',
          text.length,
          text.slice(0, 20),
          text.slice(-20),
          hash(text),
        ],
      );
      assert.ok(body.computeMs + body.writeMs <= body.ms + 0.02);
      assert.ok(!('value' in body));
    }
    const { body } = await request(url, `${path}?n=20000&full=1`);
    assert.equal(body.value, text);
    assert.equal((await request(url, `${path}?n=0`)).body.first, '0');
    assert.equal((await request(url, `${path}?n=1`)).body.first, '1');
  }
});

test('RSA Fibonacci: whole, by factors, and divided among threads come to the same', async (t) => {
  const { url } = await start(t);
  for (const [query, exponent] of [
    ['n=1', 65_537n],
    ['n=10&e=3', 3n],
    ['n=600&e=5&algorithm=paper', 5n],
    ['n=601', 65_537n],
    ['n=601&e=1048576', 1_048_576n],
  ]) {
    const answers = [];
    for (const path of [
      `/rsa-fibonacci?${query}`,
      `/rsa-fibonacci?${query}&method=crt`,
      `/rsa-fibonacci-multithreaded?${query}`,
    ]) {
      const { status, body } = await request(url, `${path}&full=1`);
      assert.equal(status, 200, JSON.stringify(body));
      answers.push(body);
    }
    const [whole, byFactors, divided] = answers;
    // By multiplying again and again where that is possible, else by squaring without any of the service's code.
    let [base, modulus] = [whole.n, whole.modulus].map((n) => fibonacciPair(n, 'doubling')[0]);
    let expected = 1n % modulus;
    for (let left = exponent; left > 0n; left /= 2n) {
      if (left % 2n === 1n) expected = (expected * base) % modulus;
      base = (base * base) % modulus;
    }
    for (const { value, sha256 } of answers) {
      assert.equal(value, expected.toString(), query);
      assert.equal(sha256, hash(value));
    }
    assert.deepEqual([whole.method, byFactors.method, divided.method], ['whole', 'crt', 'crt']);
    assert.deepEqual([whole.thread, divided.thread], ['main', 'workers']);
    const { parallel, processors, amdahl, measured } = divided.speedUp;
    assert.equal(processors, 2);
    assert.equal(amdahl, Number((1 / (1 - parallel + parallel / 2)).toFixed(2)));
    assert.ok(measured >= 0);
  }
});

test('records: a summary on the main thread and in the pool, and the records themselves', async (t) => {
  const { url } = await start(t);
  for (const count of [0, 1, 50_001]) {
    const { body: single } = await request(url, `/records-single?count=${count}`);
    const { body: pooled } = await request(url, `/records?count=${count}`);
    assert.deepEqual(summaryOf(pooled), summaryOf(single));
    assert.equal(pooled.records, count);
    assert.deepEqual([single.thread, pooled.thread], ['main', 'workers']);
    for (const path of ['/records-single', '/records']) {
      const { headers, body } = await request(url, `${path}?count=${count}&format=ndjson`);
      if (count > 0) assert.match(headers.get('content-type'), /^application\/x-ndjson/);
      const text = Buffer.from(body);
      assert.equal(text.length, single.bytes);
      assert.equal(crc32(text).toString(16).padStart(8, '0'), single.crc32);
      assert.equal(body.split('\n').length - 1, count);
    }
  }
});

const summaryOf = ({ records, bytes, cents, crc32 }) => ({ records, bytes, cents, crc32 });

describe('an uploaded file', () => {
  for (const [name, body] of Object.entries(BODIES)) {
    test(`${name}: counts as in one go`, async (t) => {
      const { url } = await start(t);
      const answer = await upload(url, body);
      assert.equal(answer.status, 200);
      assert.deepEqual(countsOf(answer.body), counted(body));
      assert.equal(answer.body.tasks === 0, body.length === 0);
    });
  }

  test('in chunks of odd sizes, without a length', async (t) => {
    const { url } = await start(t);
    const body = BODIES['CRLF, the last line without'];
    async function* chunks() {
      for (let at = 0, size = 1; at < body.length; at += size, size = (size * 7 + 1) % 70_001) {
        yield body.subarray(at, at + size);
      }
    }
    assert.deepEqual(countsOf((await upload(url, chunks())).body), counted(body));
  });

  test('forms, compressed bodies and sizes beyond the limit are refused', async (t) => {
    const { url } = await start(t);
    const form = new FormData();
    form.set('file', new Blob(['text']));
    for (const answer of [
      await upload(url, form),
      await upload(url, 'text', { 'content-encoding': 'gzip' }),
    ]) {
      assert.equal(answer.status, 415);
      assert.equal(answer.body.error.code, 'unsupported_media_type');
      assert.match(answer.body.error.message, /--data-binary/);
    }
    const raw = await rawConnection(t, url);
    raw.socket.write(
      'POST /process-large-file HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n',
    );
    await new Promise((resolve) => raw.socket.once('close', resolve));
    assert.match(raw.text, /^HTTP\/1\.1 413 /);
    assert.match(raw.text, /"code":"too_large"/);
  });
});

test('photos come from the service that the example brings', async (t) => {
  const photos = await startPhotos({ log: assert.fail });
  t.after(() => photos.close());
  const { url } = await start(t, { photos: photos.url });
  const { status, body } = await request(url, '/fetch-photos');
  assert.equal(status, 200);
  assert.equal(body.photos, 5000);
  assert.deepEqual(Object.keys(body.first), ['albumId', 'id', 'title', 'url', 'thumbnailUrl']);
});

test('a proxy of the environment is not asked for what is on this machine', async (t) => {
  const photos = await listen(t, (_, response) => response.end('[1]'));
  const proxy = await listen(t, (_, response) => response.writeHead(500).end());
  process.env.HTTP_PROXY = proxy.url;
  t.after(() => delete process.env.HTTP_PROXY);
  const { url } = await start(t, { photos: photos.url });
  assert.equal((await request(url, '/fetch-photos')).body.photos, 1);
});

test('a photo service that fails is a 502', async (t) => {
  const down = await start(t);
  const { status, body } = await request(down.url, '/fetch-photos');
  assert.equal(status, 502);
  assert.deepEqual(body.error, {
    code: 'photo_service',
    message: 'The photo service did not answer: ECONNREFUSED.',
  });

  const faults = {
    'an error of its own': (response) => response.writeHead(500).end('[]'),
    'no JSON': (response) => response.end('<html>'),
    'JSON, but no list': (response) => response.end('{"photos":[]}'),
    'too much': (response) => response.end(`[${'1,'.repeat(9 * 1024 * 1024)}1]`),
    'a broken answer': (response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('[', () => response.destroy());
    },
  };
  for (const [name, answer] of Object.entries(faults)) {
    const faulty = await listen(t, (_, response) => answer(response));
    const { url, logged } = await start(t, { photos: `${faulty.url}/photos` });
    const { status, body } = await request(url, '/fetch-photos');
    assert.equal(status, 502, name);
    assert.equal(body.error.code, 'photo_service', name);
    assert.deepEqual(logged, []);
  }
});

test('health: what the machine allows, and the tasks of the pool', async (t) => {
  const { url } = await start(t);
  await request(url, '/fibonacci?n=100');
  const { status, body } = await request(url, '/health');
  assert.equal(status, 200);
  assert.equal(body.status, 'ok');
  assert.deepEqual((await request(url, '/livez')).body, { status: 'alive' });
  const { pool } = body.tasks;
  assert.equal(pool.completed, 1);
  assert.equal(pool.queued.total, 0);
  assert.equal(pool.maxThreads, 2);
  assert.ok(body.cpu.cores.count >= 1);
  assert.ok(body.memory.availableBytes > 0);
});

test('while the pool computes, /health answers; while the main thread does, nothing can', async (t) => {
  const { url, pool } = await start(t);
  const ended = new AbortController();
  // Minutes of work, unless it is ended.
  const path = '/fibonacci?n=3000000&algorithm=paper';
  const answer = fetch(url + path, { signal: ended.signal }).catch((error) => error);
  await until(() => pool.stats().running === 1);
  assert.equal((await request(url, '/health')).status, 200);
  assert.equal(pool.stats().running, 1);
  ended.abort();
  assert.equal((await answer).name, 'AbortError');

  const { body } = await request(url, '/fibonacci-single?n=50000&algorithm=paper');
  const health = await request(url, '/health');
  assert.ok(health.body.loopDelay.max >= body.computeMs * 0.98);
});

describe('what is asked for wrongly', () => {
  test('is a 400 that says what is allowed, and nothing is computed', async (t) => {
    const { url, pool } = await start(t);
    for (const [path, message] of [
      ['/fibonacci', 'n is missing; allowed are whole numbers from 0 to 10000000.'],
      ['/fibonacci?n=', 'n is ""; allowed are whole numbers from 0 to 10000000.'],
      ['/fibonacci?n=-1', 'n is "-1"; allowed are whole numbers from 0 to 10000000.'],
      ['/fibonacci?n=1e3', 'n is "1e3"; allowed are whole numbers from 0 to 10000000.'],
      ['/fibonacci?n=1.5', 'n is "1.5"; allowed are whole numbers from 0 to 10000000.'],
      ['/fibonacci?n=0x10', 'n is "0x10"; allowed are whole numbers from 0 to 10000000.'],
      ['/fibonacci?n=10000001', /from 0 to 10000000\.$/],
      ['/fibonacci?n=3000001&algorithm=paper', /from 0 to 3000000\.$/],
      ['/fibonacci-single?n=2000001&algorithm=paper', /from 0 to 2000000\.$/],
      [`/fibonacci?n=${'9'.repeat(500)}`, /^n is "9{59}…; allowed are/],
      ['/fibonacci?n=1&n=2', 'n is ["1","2"]; allowed are single values.'],
      [
        '/fibonacci?n=1&algorithm=magic',
        /^algorithm is "magic"; allowed are paper and doubling\.$/,
      ],
      ['/fibonacci?n=1&full=yes', 'full is "yes"; allowed are 0 and 1.'],
      ['/fibonacci?n=1&algoritm=paper', /^There is no parameter "algoritm" here; allowed are/],
      ['/fibonacci?n=1&__proto__=1', /^There is no parameter "__proto__" here/],
      ['/rsa-fibonacci?n=0', 'n is "0"; allowed are whole numbers from 1 to 3000000.'],
      ['/rsa-fibonacci?n=2000001&algorithm=paper', /from 1 to 2000000\.$/],
      ['/rsa-fibonacci-multithreaded?n=3000001', /from 1 to 3000000\.$/],
      ['/rsa-fibonacci?n=5&e=0', 'e is "0"; allowed are whole numbers from 1 to 1048576.'],
      ['/rsa-fibonacci?n=5&method=half', /^method is "half"; allowed are whole and crt\.$/],
      ['/rsa-fibonacci-multithreaded?n=5&method=crt', /^There is no parameter "method" here/],
      ['/records?count=10000001', /^count is "10000001"; allowed are/],
      ['/records-single?count=x', /^count is "x"; allowed are whole numbers from 0 to 10000000\.$/],
      ['/records?format=xml', 'format is "xml"; allowed are summary and ndjson.'],
      ['/process-file?name=a&name=b', 'name is ["a","b"]; allowed are single values.'],
      ['/process-file', 'name is missing; allowed are any text that is not empty.'],
      ['/health?verbose=1', 'There is no parameter "verbose" here; allowed are none.'],
      ['/fetch-photos?url=x', 'There is no parameter "url" here; allowed are none.'],
    ]) {
      const { status, body } = await request(url, path);
      assert.equal(status, 400, path);
      assert.equal(body.error.code, 'bad_parameter');
      if (message instanceof RegExp) assert.match(body.error.message, message);
      else assert.equal(body.error.message, message);
    }
    assert.equal(pool.completed, 0);
  });

  test('other paths, methods and sites', async (t) => {
    const { url, logged } = await start(t);
    const absent = await request(url, '/main.js');
    assert.deepEqual([absent.status, absent.body.error.code], [404, 'not_found']);
    assert.equal((await request(url, '/../package.json')).status, 404);
    const get = await request(url, '/process-large-file');
    assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
    const broken = await request(url, '/%E0%A4%A');
    assert.equal(broken.status, 404);
    assert.deepEqual(logged, []);
  });

  test('pages of other sites may link to the page, and no more', async (t) => {
    const { url, pool } = await start(t);
    const status = async (path, mode, dest, method) => {
      const headers = {
        ...{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
      };
      const [head] = await ask(url, { path, headers, method });
      return head;
    };
    assert.equal(await status('/', 'navigate', 'document'), 200);
    assert.equal(await status('/', 'navigate', 'iframe'), 403);
    assert.equal(await status('/', 'no-cors', 'empty'), 403);
    assert.equal(await status('/fibonacci?n=1', 'navigate', 'document'), 403);
    assert.equal(await status('/fibonacci?n=1', 'cors', 'empty'), 403);
    assert.equal(await status('/process-large-file', 'navigate', 'document', 'POST'), 403);
    assert.equal(pool.completed, 0);
  });

  test('a service of this machine only goes by its names alone', async (t) => {
    const { url } = await start(t, { host: '127.0.0.1' });
    const { port } = new URL(url);
    for (const host of ['localhost', `LOCALHOST:${port}`, `127.0.0.1:${port}`, '[::1]:80']) {
      assert.equal((await ask(url, { headers: { host } }))[0], 200, host);
    }
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '10.0.0.1',
    ]) {
      const [status, body] = await ask(url, { headers: { host } });
      assert.deepEqual([status, body.error?.code], [403, 'bad_origin'], host);
    }
    const everywhere = await start(t, { host: '0.0.0.0' });
    assert.equal((await ask(everywhere.url, { headers: { host: 'service.example' } }))[0], 200);
  });
});

test('the page comes with its parts and a strict policy', async (t) => {
  const { url } = await start(t);
  const page = await request(url, '/');
  assert.equal(page.status, 200);
  const policy = page.headers.get('content-security-policy');
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|http|\*/);
  const found = new Set();
  const pending = Array.from(page.body.matchAll(/(?:src|href)="(\/[^"]*)"/g), ([, path]) => path);
  while (pending.length > 0) {
    const path = pending.pop();
    if (found.has(path)) continue;
    found.add(path);
    const { status, body, headers } = await request(url, path);
    assert.equal(status, 200, path);
    if (headers.get('content-type').startsWith('text/javascript')) {
      pending.push(...Array.from(body.matchAll(/from '(\/[^']*)'/g), ([, from]) => from));
    }
  }
  assert.ok(found.has('/app.js') && found.has('/uplot.js') && found.has('/style.css'));
  const { body: about } = await request(url, '/about');
  assert.deepEqual([about.threads, about.files], [2, ['sample.ndjson']]);
});
