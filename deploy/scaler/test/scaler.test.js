/** The scaler as KEDA uses it: a real client of gRPC, and pods that are processes of their own. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { families } from '@millrace/monitor/metrics';
import { messages, openScaler, startApp, startPod, text, until } from './lib/help.js';

const loop = (source, more = {}) => ({ metric: 'loop-utilization', source, ...more });
const metricsOf = async ({ url }) => (await fetch(`${url}/metrics`)).text();
/** Shares are sums of products. */
const near = (value, wanted) => Math.abs(value - wanted) < 1e-9;

/** Whether a call gives this. After a leap of the clock there is nothing that counts until the next reading. */
const is = (call, wanted) => call.then((value) => near(value, wanted)).catch(() => false);

describe('GetMetricSpec', () => {
  test('gives the threshold of the trigger, or that of the metric', async (t) => {
    const { spec } = await openScaler(t);
    const source = 'http://127.0.0.1:1/metrics';
    const target = async (metadata) => {
      const [{ metricName, targetSizeFloat }] = await spec(metadata);
      assert.equal(metricName, metadata.metric);
      return targetSizeFloat;
    };
    assert.equal(await target(loop(source)), 0.6);
    assert.equal(await target(loop(source, { threshold: ' 0.75 ' })), 0.75);
    assert.equal(await target({ metric: 'batch-fill', source }), 0.5);
    assert.equal(await target({ metric: 'shed-rate', source }), 0.01);
    assert.equal(await target({ metric: 'task-depth', stream: 'compute' }), 100);
    assert.equal(await target({ metric: 'task-depth', stream: 'a', threshold: '1e4' }), 10_000);
  });

  test('takes what KEDA hands on of its own', async (t) => {
    const { spec } = await openScaler(t);
    const ofKeda = { scalerAddress: 'scaler:9090', enableTLS: 'false', unsafeSsl: 'false' };
    assert.equal((await spec(loop('http://a/metrics', ofKeda))).length, 1);
  });
});

describe('GetMetrics', () => {
  test('gives utilization of all pods together: the mean or the highest, times their number', async (t) => {
    const pods = [await startPod(t, { utilization: 0.2 }), await startPod(t, { utilization: 0.7 })];
    const { value } = await openScaler(t);
    const source = pods.map(({ url }) => url).join(', ');
    assert.ok(near(await value(loop(source)), 0.9));
    assert.ok(near(await value(loop(source, { aggregate: 'average' })), 0.9));
    assert.ok(near(await value(loop(source, { aggregate: 'max' })), 1.4));
  });

  test('averages utilization over the window, and forgets what is older', async (t) => {
    const pod = await startPod(t, { utilization: 0.2 });
    const { value, pass } = await openScaler(t);
    assert.ok(near(await value(loop(pod.url)), 0.2));
    await pod.say({ utilization: 0.8 });
    await until(async () => (await value(loop(pod.url))) > 0.3);
    assert.ok((await value(loop(pod.url))) < 0.8);
    pass(59_000);
    // A reading of a moment ago is still within the window of the next one.
    await until(async () => (await value(loop(pod.url))) > 0.4);
    pass(10_000);
    await until(() => is(value(loop(pod.url)), 0.8));
  });

  for (const [metric, part, whole] of [
    ['batch-fill', 'full', 'others'],
    ['shed-rate', 'shed', 'admitted'],
  ]) {
    test(`gives ${metric} as a share of what was counted within the window`, async (t) => {
      const pod = await startPod(t, { [part]: 5000, [whole]: 100 });
      const other = await startPod(t);
      const { value } = await openScaler(t);
      const trigger = { metric, source: `${pod.url},${other.url}` };
      assert.equal(await value(trigger), 0);
      await pod.say({ [part]: 5000 + 40_000, [whole]: 100 + 60_000 });
      // The mean of the two pods is 0.2.
      await until(async () => near(await value(trigger), 0.4));
      // Counters that fall are those of a process that has started anew.
      await pod.say({ [part]: 0, [whole]: 1 });
      await until(async () => (await value(trigger)) === 0);
      await pod.say({ [part]: 50_000, [whole]: 50_001 });
      await until(async () => near(await value(trigger), 0.5));
    });
  }

  test('does not take a single refusal among few requests for a shed rate of 1', async (t) => {
    const pod = await startPod(t);
    const { value, pass } = await openScaler(t);
    const trigger = { metric: 'shed-rate', source: pod.url };
    assert.equal(await value(trigger), 0);
    pass(50_000);
    await pod.say({ shed: 1 });
    const found = await until(() => value(trigger));
    assert.ok(found > 0 && found <= 1 / 50, found);
  });

  test('reads an application with Millrace', async (t) => {
    const { url, work } = await startApp(t);
    const { value } = await openScaler(t);
    const utilization = await value(loop(url));
    assert.ok(utilization >= 0 && utilization <= 1, utilization);
    assert.equal(await value({ metric: 'batch-fill', source: url }), 0);
    await work(10_000);
    await until(async () => near(await value({ metric: 'batch-fill', source: url }), 0.8));
    assert.equal(await value({ metric: 'shed-rate', source: url }), 0);
  });

  test('finds the pods that a name has, new ones and those that are gone', async (t) => {
    const first = await startPod(t, { utilization: 0.1 }, { host: '127.0.0.2' });
    const at = { host: '127.0.0.3', port: first.port };
    const second = await startPod(t, { utilization: 0.5 }, at);
    let addresses = ['127.0.0.2'];
    const { default: dns } = await import('node:dns/promises');
    t.mock.method(dns, 'lookup', async (name) => {
      assert.equal(name, 'chat-pods');
      if (addresses.length === 0) throw new Error('getaddrinfo ENOTFOUND chat-pods');
      return addresses.map((address) => ({ address, family: 4 }));
    });
    const { value, lines } = await openScaler(t);
    const trigger = loop(`http://chat-pods:${first.port}/metrics`);
    assert.ok(near(await value(trigger), 0.1));
    addresses = ['127.0.0.2', '127.0.0.3'];
    await until(async () => near(await value(trigger), 0.6));
    addresses = ['127.0.0.3'];
    await until(async () => near(await value(trigger), 0.5));
    // Without an answer of DNS the pods are those that it had, and are still asked.
    addresses = [];
    await until(() => lines.some((line) => /chat-pods: getaddrinfo ENOTFOUND/.test(line)));
    await second.say({ utilization: 0.9 });
    await until(async () => (await value(trigger)) > 0.5);
  });

  test('counts a pod on each of its addresses once, and names the host', async (t) => {
    const pod = await startPod(t, { utilization: 0.3 });
    const { value } = await openScaler(t);
    assert.ok(near(await value(loop(`${pod.url},${pod.url}`)), 0.3));
  });
});

describe('IsActive', () => {
  test('compares a pod with the threshold of activation', async (t) => {
    const pods = [await startPod(t, { utilization: 0.2 }), await startPod(t, { utilization: 0.2 })];
    const { isActive } = await openScaler(t);
    const source = pods.map(({ url }) => url).join(',');
    assert.equal(await isActive(loop(source)), true);
    assert.equal(await isActive(loop(source, { activationThreshold: '0.1' })), true);
    assert.equal(await isActive(loop(source, { activationThreshold: '0.3' })), false);
    assert.equal(await isActive({ metric: 'shed-rate', source }), false);
  });

  test('tells each change on a stream, until the scaler ends', async (t) => {
    const pod = await startPod(t, { utilization: 0.2 });
    const { stream, close, pass } = await openScaler(t);
    const told = [];
    const call = stream(loop(pod.url, { activationThreshold: '0.5' }));
    call.on('data', ({ result }) => told.push(result));
    await until(() => told.length === 1);
    await pod.say({ utilization: 0.9 });
    pass(55_000);
    await until(() => told.length === 2);
    await pod.say({ utilization: 0 });
    pass(55_000);
    await until(() => told.length === 3);
    assert.deepEqual(told, [false, true, false]);
    const ended = once(call, 'status');
    await close();
    assert.equal((await ended)[0].code, status.OK);
  });

  test('ends a stream whose client has gone, and one that has no value', async (t) => {
    const pod = await startPod(t, { utilization: 0.2 });
    const { stream, pass, url } = await openScaler(t);
    const gone = stream(loop(pod.url));
    gone.on('error', () => {});
    await once(gone, 'data');
    gone.cancel();
    const call = stream(loop(pod.url));
    const failed = once(call, 'error');
    await once(call, 'data');
    await pod.kill();
    pass(61_000);
    call.resume();
    const [error] = await failed;
    assert.equal(error.code, status.UNAVAILABLE, error.message);
    assert.match(
      await metricsOf({ url }),
      /calls_total\{method="StreamIsActive",code="UNAVAILABLE"\} 1/,
    );
    const wrong = stream({ metric: 'cpu' });
    wrong.resume();
    assert.equal((await once(wrong, 'error'))[0].code, status.INVALID_ARGUMENT);
  });
});

describe('a source that is away', () => {
  test('is said to be so, holds its value for a time, then is unavailable, and comes back', async (t) => {
    const pod = await startPod(t, { utilization: 0.4 });
    const { value, isActive, pass, lines, url } = await openScaler(t);
    const trigger = loop(pod.url);
    assert.ok(near(await value(trigger), 0.4));
    assert.match(await metricsOf({ url }), /source_faults\{source="http:.*"\} 0/);
    await pod.kill();
    await until(() => lines.length > 0);
    assert.match(
      lines[0],
      /^away: http:.*\/metrics: 127\.0\.0\.1: .*(ECONN|hang up).*counts for 60 s$/,
    );
    assert.match(await metricsOf({ url }), /source_faults\{source="http:.*"\} 1/);
    pass(50_000);
    assert.ok(near(await value(trigger), 0.4));
    assert.equal(await isActive(trigger), true);
    pass(15_000);
    await assert.rejects(value(trigger), {
      code: status.UNAVAILABLE,
      details:
        /has not answered for 6\d s, and its value counts for 60 s: 127\.0\.0\.1: .*(ECONN|hang up)/,
    });
    const [, age] = /source_age_seconds\{source="http:.*"\} (\S+)/.exec(await metricsOf({ url }));
    assert.ok(Number(age) >= 65, age);
    await startPod(t, { utilization: 0.1 }, { port: pod.port });
    await until(() => lines.length > 1);
    assert.match(lines[1], /^back: http:/);
    assert.equal(lines.length, 2);
    await until(async () => near(await value(trigger), 0.1));
  });

  test('is unavailable at once if it never answered', async (t) => {
    const pod = await startPod(t);
    await pod.kill();
    const { value } = await openScaler(t);
    await assert.rejects(value(loop(pod.url)), {
      code: status.UNAVAILABLE,
      details: /has not answered yet: .*ECONNREFUSED/,
    });
  });

  test('with one pod of two holds the value of that pod for a time, then takes it for one as the other', async (t) => {
    const pods = [await startPod(t, { utilization: 0.2 }), await startPod(t, { utilization: 0.6 })];
    const { value, pass, lines } = await openScaler(t);
    const trigger = loop(pods.map(({ url }) => url).join(','));
    assert.ok(near(await value(trigger), 0.8));
    await pods[1].kill();
    await until(() => lines.length > 0);
    assert.ok(near(await value(trigger), 0.8));
    pass(61_000);
    await until(() => is(value(trigger), 0.4));
  });

  for (const [what, said, wanted] of [
    [
      'has no metrics of Millrace',
      { text: 'up 1\n' },
      /no millrace_loop_utilization.*prometheus\(\)/,
    ],
    ['answers an error', { status: 503, text: 'no' }, /it answered 503/],
    ['sends too much', { text: text({}).repeat(20_000) }, /more than 4194304 bytes/],
    ['does not answer', { isSilent: true }, /no answer within 100 ms/],
  ]) {
    test(`${what}: the message says so`, async (t) => {
      const pod = await startPod(t);
      await pod.send(said);
      const { value } = await openScaler(t, said.isSilent ? { timeoutMs: 100 } : {});
      await assert.rejects(value(loop(pod.url)), { code: status.UNAVAILABLE, details: wanted });
    });
  }
});

describe('bad input', () => {
  const source = 'http://127.0.0.1:1/metrics';
  let scaler;
  const ends = [];
  before(async () => {
    scaler = await openScaler({ after: (end) => ends.push(end) });
  });
  after(() => Promise.all(ends.map((end) => end())));
  const names = 'loop-utilization, batch-fill, shed-rate, task-depth';
  for (const [metadata, details] of [
    [{}, `metric is undefined; those known are ${names}`],
    [{ metric: 'cpu', source }, `metric is "cpu"; those known are ${names}`],
    [{ metric: 'constructor', source }, `metric is "constructor"; those known are ${names}`],
    [
      loop(source, { threshold: 'high' }),
      'threshold is "high"; it must be a number above 0, at most 1',
    ],
    [loop(source, { threshold: '' }), 'threshold is ""; it must be a number above 0, at most 1'],
    [loop(source, { threshold: '0' }), 'threshold is "0"; it must be a number above 0, at most 1'],
    [
      loop(source, { threshold: '60' }),
      'threshold is "60"; it must be a number above 0, at most 1',
    ],
    [loop(source, { threshold: 'Infinity' }), /must be a number above 0, at most 1$/],
    [
      loop(source, { activationThreshold: '-1' }),
      /^activationThreshold is "-1"; .* from 0, at most 1$/,
    ],
    [
      loop(source, { treshold: '0.5' }),
      /^metadata has "treshold"; those of loop-utilization are metric, threshold, .*aggregate/,
    ],
    [loop(source, { stream: 'a' }), /^metadata has "stream"/],
    [
      loop(source, { aggregate: 'median' }),
      'aggregate is "median"; it must be one of average, max',
    ],
    [loop(''), /^source is ""; it must be the URL of \/metrics/],
    [loop('ftp://a/metrics'), /^source is "ftp:/],
    [loop(`${source},`), /^source is /],
    [loop('https://a/metrics'), /by HTTP and without a user/],
    [loop('http://me:secret@a/metrics'), /by HTTP and without a user/],
    [
      loop(
        Array(101)
          .fill(source)
          .map((url, n) => url + n)
          .join(),
      ),
      /up to 100 of them/,
    ],
    [{ metric: 'task-depth' }, /^stream is undefined; it must be the name/],
    [{ metric: 'task-depth', stream: 'a_dead' }, /^stream is "a_dead"/],
    [
      { metric: 'task-depth', stream: 'a', priority: 'urgent' },
      /must be one of all, high, normal, low/,
    ],
    [{ metric: 'task-depth', stream: 'a' }, /no broker; start it with --broker$/],
  ]) {
    test(`${JSON.stringify(metadata).slice(0, 80)} is refused with its name`, async () => {
      const { value, isActive } = scaler;
      const metric = names.split(', ').includes(metadata.metric) ? metadata.metric : 'batch-fill';
      const wanted = { code: status.INVALID_ARGUMENT, details };
      await assert.rejects(value(metadata, metric), wanted);
      await assert.rejects(isActive(metadata), wanted);
    });
  }

  test('a call for a metric that nobody knows, or that is another trigger’s', async (t) => {
    const { value, url } = await openScaler(t);
    await assert.rejects(value(loop(source), 'cpu'), {
      code: status.INVALID_ARGUMENT,
      details: `metric is "cpu"; those known are ${names}`,
    });
    await assert.rejects(value(loop(source), 'shed-rate'), {
      code: status.INVALID_ARGUMENT,
      details: 'metric is shed-rate, but that of the trigger is loop-utilization',
    });
    assert.match(
      await metricsOf({ url }),
      /calls_total\{method="GetMetrics",code="INVALID_ARGUMENT"\} 2/,
    );
  });

  test('more sources than are watched', async (t) => {
    const { value } = await openScaler(t, { intervalMs: 600_000 });
    const refused = (n) => value(loop(`${source}${n}`)).catch(({ code }) => code);
    const codes = await Promise.all(Array.from({ length: 100 }, (_, n) => refused(n)));
    assert.deepEqual(new Set(codes), new Set([status.UNAVAILABLE]));
    assert.equal(await refused(100), status.RESOURCE_EXHAUSTED);
    assert.equal(await refused(7), status.UNAVAILABLE);
  });

  test('a source that nobody asks for is watched no more', async (t) => {
    const pod = await startPod(t);
    const { value, url, pass } = await openScaler(t);
    assert.equal(await value(loop(pod.url)), 0);
    assert.match(await metricsOf({ url }), /source_faults\{/);
    pass(600_001);
    await until(async () => !/source_faults\{/.test(await metricsOf({ url })));
    assert.equal(await value(loop(pod.url)), 0);
  });
});

test('metrics and labels that are read are those of the vocabulary', () => {
  const said = [...text({}).matchAll(/^millrace_(\w+)(?:\{(.*)\})?/gm)];
  assert.equal(said.length, 5);
  for (const [, name, labels = ''] of said) {
    const family = families.find((each) => each.name === name);
    assert.deepEqual(
      [...labels.matchAll(/(\w+)=/g)]
        .map(([, label]) => label)
        .filter((label) => !family.labels.includes(label)),
      [],
    );
  }
});

test('messages have the field numbers of KEDA', () => {
  const bytes = (name, message) => messages[name].serialize(message).toString('hex');
  const half = '19000000000000e03f';
  assert.equal(
    bytes('GetMetricSpecResponse', { metricSpecs: [{ metricName: 'a', targetSizeFloat: 0.5 }] }),
    `0a0c0a0161${half}`,
  );
  assert.equal(
    bytes('GetMetricsResponse', { metricValues: [{ metricName: 'a', metricValueFloat: 0.5 }] }),
    `0a0c0a0161${half}`,
  );
  assert.equal(bytes('IsActiveResponse', { result: true }), '0801');
  const ref = '0a01611201621a060a016312016' + '4';
  const request = `0a0e${ref}120165`;
  const read = messages.GetMetricsRequest.deserialize(Buffer.from(request, 'hex'));
  assert.deepEqual(
    { ...read, scaledObjectRef: { ...read.scaledObjectRef } },
    { scaledObjectRef: { name: 'a', namespace: 'b', scalerMetadata: { c: 'd' } }, metricName: 'e' },
  );
});

test('the platform learns how the scaler is', async (t) => {
  const { url, close } = await openScaler(t);
  for (const [path, code] of [
    ['/livez', 200],
    ['/readyz', 200],
    ['/metrics', 200],
    ['/x', 404],
  ]) {
    const response = await fetch(url + path);
    assert.equal(response.status, code, path);
    await response.text();
  }
  await close();
  await assert.rejects(fetch(`${url}/livez`));
});
