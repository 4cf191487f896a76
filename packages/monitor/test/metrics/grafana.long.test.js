// deploy/grafana: a Prometheus scrapes the chat and a second server under load; each panel has data then.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { families } from '@millrace/monitor/metrics';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { natsServer, unable } from '../../../nats/test/nats.js';
import { startServer } from './process.js';
import { commands, startPrometheus } from './prometheus-server.js';

const root = new URL('../../../../', import.meta.url);
const folder = new URL('deploy/grafana/', root);
const text = (name) => readFileSync(new URL(name, folder), 'utf8');
const skip = !commands.promtool && 'needs prometheus';
const promtool = (...args) =>
  execFileSync(commands.promtool, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

test('the dashboard shows every family, and says what each panel is', () => {
  const dashboard = JSON.parse(text('dashboard.json'));
  const shown = panelsOf(dashboard).flatMap(({ exprs }) => exprs);
  for (const { name } of families) {
    const series = new RegExp(`\\bmillrace_${name}(_sum|_count)?\\{`);
    assert.ok(
      shown.some((expr) => series.test(expr)),
      name,
    );
  }
  const ids = dashboard.panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const { type, title, description, targets, fieldConfig } of dashboard.panels) {
    if (type === 'row') continue;
    assert.ok(description && fieldConfig.defaults.unit, title);
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    const legends = targets.map(({ legendFormat }) => legendFormat);
    // Lines that differ have different names.
    for (const { expr, legendFormat } of targets) {
      const [, by = ''] = /\bby \(([^)]*)\)/.exec(expr) ?? [];
      for (const label of by.split(', ').filter(Boolean)) {
        assert.ok(
          legendFormat.includes(`{{${label}}}`),
          `${title}: ${legendFormat} without ${label}`,
        );
      }
    }
    // An override of a line that is not there does nothing.
    for (const { matcher } of fieldConfig.overrides) {
      assert.ok(legends.includes(matcher.options), `${title}: ${matcher.options}`);
    }
  }
});

test('rules and configuration are valid, and alerts fire when they should', { skip }, () => {
  promtool('check', 'rules', 'alerts.yml');
  promtool('check', 'config', 'prometheus.yml');
  promtool('test', 'rules', 'alerts.test.yml');
});

test('each alert has cases in which it fires and in which it does not', () => {
  const { tests } = parse(text('alerts.test.yml'));
  for (const { alert, for: wait, labels, annotations } of alerts()) {
    const expected = tests
      .flatMap((each) => each.alert_rule_test)
      .filter((each) => each.alertname === alert && each.eval_time !== '0m')
      .map((each) => each.exp_alerts.length);
    assert.deepEqual(expected, [1, 0], alert);
    assert.ok(wait && labels.severity && annotations.summary && annotations.description, alert);
  }
});

test('each panel of the dashboard has data from servers under load', {
  skip: skip || unable,
}, async (t) => {
  const broker = await natsServer(t, { jetstream: true });
  const [chat, application] = await Promise.all([
    startServer(t, fileURLToPath(new URL('examples/chat/server.js', root)), [
      '--port=0',
      '--flood-limit=0',
      '--quiet',
    ]),
    startServer(t, fileURLToPath(new URL('application.js', import.meta.url)), [], {
      BROKER: broker.url,
    }),
  ]);
  const ask = await startPrometheus(t, { chat: chat.host, application: application.host });
  const load = new AbortController();
  const ended = Promise.all([talk(t, chat, load.signal), request(application, load.signal)]);
  const panels = panelsOf(JSON.parse(text('dashboard.json')));
  const wanting = new Map(panels.map(({ title, exprs }) => [title, exprs]));
  // Rates need two scrapes, and the load a little time to reach every counter.
  const until = Date.now() + 300_000;
  while (wanting.size > 0 && Date.now() < until && !t.signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const [title, exprs] of wanting) {
      const rest = [];
      for (const expr of exprs) if (!(await hasData(ask, expr))) rest.push(expr);
      if (rest.length > 0) wanting.set(title, rest);
      else wanting.delete(title);
    }
  }
  assert.deepEqual([...wanting], []);
  // What fires is alerts.test.yml's affair; here, that all of it parses and names what is there.
  for (const { alert, expr } of alerts()) {
    const [left] = expr.split(/ > [\d.]+$/);
    if (!(await hasData(ask, left))) assert.fail(`${alert} has no data`);
  }
  // The chat alone, without the other server.
  for (const name of [
    'loop_utilization',
    'queue_wait_ms_count',
    'batch_size_sum',
    'fanout_sends_total',
    'file_reads_total',
  ]) {
    assert.ok(await hasData(ask, `millrace_${name}{job="chat"} > 0`), name);
  }
  load.abort();
  await ended;
});

test('metrics of servers pass promtool', { skip }, async (t) => {
  const { origin } = await startServer(
    t,
    fileURLToPath(new URL('application.js', import.meta.url)),
  );
  const exposed = await (await fetch(`${origin}/metrics`)).text();
  const own = exposed.split('\n').filter((line) => /^(# (HELP|TYPE) )?millrace_/.test(line));
  const report = lint(`${own.join('\n')}\n`);
  // It wants seconds; the vocabulary is in ms, as all of Millrace.
  assert.deepEqual(
    report.filter((line) => !line.endsWith('should not contain abbreviated units')),
    [],
  );
});

/** The complaints of `promtool check metrics`. */
function lint(metrics) {
  try {
    execFileSync(commands.promtool, ['check', 'metrics'], { input: metrics, stdio: 'pipe' });
    return [];
  } catch (error) {
    return String(error.stderr).trim().split('\n');
  }
}

function alerts() {
  return parse(text('alerts.yml')).groups.flatMap(({ rules }) => rules);
}

/** As Grafana would ask, for all jobs and instances. */
function panelsOf({ panels }) {
  return panels
    .filter(({ type }) => type !== 'row')
    .map(({ title, targets }) => ({
      title,
      exprs: targets.map(({ expr }) =>
        expr.replaceAll('$__rate_interval', '30s').replaceAll(/\$(job|instance)/g, '.*'),
      ),
    }));
}

async function hasData(ask, query) {
  const { result } = await ask('query', { query });
  return result.some(({ value: [, value] }) => Number.isFinite(Number(value)));
}

/** Two people talk, and look at a file. */
async function talk(t, { origin, host }, signal) {
  const sockets = ['ada', 'bob'].map((name) => new WebSocket(`ws://${host}/ws?name=${name}`));
  t.after(() => {
    for (const socket of sockets) socket.terminate();
  });
  for (const socket of sockets) {
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ t: 'join', room: 'garden' }));
  }
  const upload = { method: 'POST', body: 'rose', headers: { 'content-type': 'text/plain' } };
  const stored = await fetch(`${origin}/api/rooms/garden/files?name=a&from=carl`, upload);
  const { file } = await stored.json();
  while (!signal.aborted) {
    for (const socket of sockets) {
      for (let i = 0; i < 5; i++)
        socket.send(JSON.stringify({ t: 'msg', room: 'garden', text: 'x' }));
    }
    await (await fetch(new URL(file.url, origin))).arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Six at a time, where two run and two may wait. */
async function request({ origin }, signal) {
  const paths = ['/', '/', '/', '/', '/low', '/cached'];
  const one = async (path) => {
    while (!signal.aborted) {
      await (await fetch(origin + path)).text();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await Promise.all(paths.map(one));
}
