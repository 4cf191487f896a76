import { CHARTS, drawChart, SHOWN } from '/chart.js';
import { Probe } from '/probe.js';
import { Runs } from '/runs.js';
import { count } from '/write.js';

const byId = (id) => document.getElementById(id);
const form = byId('tasks');

const about = await (await fetch('/about')).json();
const charts = Object.entries(CHARTS).map(([name, chart]) => ({
  name,
  chart: drawChart(byId('charts'), chart),
}));
for (const name of about.files) form.elements.file.append(new Option(name, name));
byId('threads').textContent = about.threads === 1 ? 'one thread' : `${about.threads} threads`;

const probe = new Probe();
probe.begin();
const runs = new Runs(probe, (text) => {
  byId('told').textContent = text;
});

form.addEventListener('submit', (event) => event.preventDefault());
for (const button of form.querySelectorAll('button[data-start]')) {
  button.addEventListener('click', () => {
    if (!form.reportValidity()) return;
    for (const name of button.dataset.start.split(' ')) runs.start(name, settings());
  });
}
form.elements.algorithm.addEventListener('change', bound);
form.elements.n.addEventListener('input', bound);
bound();

/** The greatest n depends on how it is computed. */
function bound() {
  const { n, algorithm } = form.elements;
  n.max = about.most.n[algorithm.value];
  byId('bounds').textContent =
    `up to ${count(n.max)}, on the main thread ${count(about.most.blocking[algorithm.value])}, ` +
    `for RSA ${count(about.most.rsa[algorithm.value])}`;
}

function settings() {
  const { n, algorithm, records, upload, file } = form.elements;
  return {
    n: Number(n.value),
    algorithm: algorithm.value,
    records: Number(records.value),
    upload: upload.files[0],
    file: file.value,
  };
}

/** Reports of the server; while its main thread is blocked there are none. */
let points = [];
const GAP_MS = 1000;

const events = new EventSource('/events');
events.addEventListener('message', ({ data }) => {
  const told = JSON.parse(data);
  const at = performance.now();
  const last = points.at(-1);
  const busy = told.busy.reduce((sum, share) => sum + share, 0);
  // No line leads over a time of which nothing is known.
  if (last && at - last.at > GAP_MS) points.push({ ...EMPTY, at: last.at + 1 });
  points.push({ ...told, at, busy, cores: told.busy.length, loop: told.utilization });
  points = points.filter((point) => point.at > at - (SHOWN + 1) * 1000);
});
const EMPTY = { busy: null, loop: null, running: null, queued: null, workers: null, rss: null };

events.addEventListener('open', () => connected(true));
events.addEventListener('error', () => connected(false));

function connected(isConnected) {
  byId('status').textContent = isConnected ? '' : 'Not connected; trying again…';
  for (const button of form.querySelectorAll('button')) button.disabled = !isConnected;
}

setInterval(draw, 250);
function draw() {
  if (document.hidden) return;
  const now = performance.now();
  const health = probe.answers.map(({ at, ms }) => ({ at: at + ms, health: Math.max(1, ms) }));
  // A question that is open is as slow already as it has been waiting.
  if (probe.waiting > 0) health.push({ at: now, health: Math.max(1, probe.waiting) });
  for (const { name, chart } of charts) chart.show(name === 'latency' ? health : points, now);
}
