import { times } from '/numbers.js';
import { Row } from '/rows.js';

const byId = (id) => document.getElementById(id);
const load = byId('load');
const target = byId('target');

const about = await (await fetch('/api/about')).json();
const rows = new Map(about.servers.map((server) => [server.name, new Row(server, about)]));
let settings = { version: 0, load: 0, target: 'turns', current: null };

byId('intro').textContent =
  `The same application, protected in different ways. One server can do ${about.capacity.toFixed(0)} requests a second: ` +
  `each request keeps its only thread busy for about ${about.handlerMs} ms. The load begins at 2×: move the slider.`;
for (const place of document.querySelectorAll('.good-ms')) place.textContent = about.goodMs;
target.append(
  new Option(`each in turn, ${about.turnSeconds} s`, 'turns'),
  ...about.servers.map((server) => new Option(server.title, server.name)),
);
load.max = about.maxLoad;
for (let mark = 0; mark <= about.maxLoad; mark += 1) {
  byId('loads').append(new Option('', mark));
  const label = document.createElement('span');
  label.textContent = `${mark}×`;
  byId('scale').append(label);
}

/** While a person moves the slider, and until the server has heard of it, the slider's own value counts. */
let moving;
let underWay = 0;
let lastSent = 0;

load.addEventListener('input', () => {
  showOffered(Number(load.value));
  clearTimeout(moving);
  const wait = Math.max(0, lastSent + 150 - Date.now());
  moving = setTimeout(() => change({ load: Number(load.value) }), wait);
});
target.addEventListener('change', () => change({ target: target.value }));
byId('stop').addEventListener('click', () => change({ load: 0 }));
byId('controls').addEventListener('submit', (event) => event.preventDefault());

async function change(body) {
  moving = undefined;
  lastSent = Date.now();
  underWay += 1;
  const response = await fetch('/api/settings', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  underWay -= 1;
  if (response?.ok) show(await response.json());
}

const events = new EventSource('/api/events');
on('results', (results) => {
  // The first event of each connection: the server may be another one by now.
  settings.version = 0;
  for (const [name, row] of rows) row.replace(results[name]);
});
on('settings', show);
on('point', ({ name, ...figures }) => {
  rows.get(name).add(figures);
  mark();
});
events.addEventListener('open', () => connected(true));
events.addEventListener('error', () => connected(false));

function on(name, call) {
  events.addEventListener(name, ({ data }) => call(JSON.parse(data)));
}

function show(next) {
  // The answer to a change may come after the event that tells of a later one.
  if (next.version < settings.version) return;
  settings = next;
  if (moving === undefined && underWay === 0) {
    load.value = settings.load;
    showOffered(settings.load);
  }
  target.value = settings.target;
  mark();
}

function showOffered(value) {
  const text =
    value === 0 ? 'none' : `${times(value)}, ${Math.round(value * about.capacity)} requests/s`;
  byId('offered').textContent = text;
  load.setAttribute('aria-valuetext', text);
}

function mark() {
  for (const [name, row] of rows) {
    row.mark({ load: settings.load, isCurrent: settings.current === name });
  }
}

function connected(isConnected) {
  for (const control of [load, target, byId('stop')]) control.disabled = !isConnected;
  byId('status').textContent = isConnected ? '' : 'Not connected; trying again…';
}
