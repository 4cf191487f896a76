/** Writes figures into pages: tables, each between two marks, and numbers in sentences. */
import { readFileSync, writeFileSync } from 'node:fs';
import { factor, measuredRows, number, once, results, runs, table } from './cells.js';
import { gojaCosts, loopCosts } from './go-costs.js';
import { quoted, quotingPages } from './quotes.js';
import { matrixRuns, releasesTable, toolsTable } from './stalls.js';
import { figureOf } from './store.js';

const root = new URL('../../', import.meta.url);
const begin = (name) => `<!-- ${name}: written by make bench SAVE=1 -->`;
const end = (name) => `<!-- end of ${name} -->`;

/** Tables by page, and by the name of the marks. */
const parts = {
  'README.md': { measured: shortTable },
  'docs/reference/c.md': { accepts: acceptTable },
  'docs/reference/go.md': { costs: loopCosts },
  'docs/reference/go-goja.md': { costs: gojaCosts },
  'docs/reference/durable-tasks.md': { figures: tasksTable },
  'docs/reference/rooms-across-machines.md': { figures: roomsTable },
  'docs/reference/socket-io.md': { figures: adaptersTable },
  'docs/benchmarks/stalls.md': { tools: toolsTable, releases: releasesTable, runs: matrixRuns },
  'docs/benchmarks/measured.md': { measured: longTable, behind: behindList, runs: runsTable },
};

export const pages = [...new Set([...Object.keys(parts), ...quotingPages])];

/** Returns the updated text of a page. */
export function pageText(page) {
  let text = readFileSync(new URL(page, root), 'utf8');
  for (const [name, make] of Object.entries(parts[page] ?? {})) {
    const [from, to] = [text.indexOf(begin(name)), text.indexOf(end(name))];
    if (from < 0 || to < from) {
      throw new Error(`${page} has lost the marks ${begin(name)} and ${end(name)}`);
    }
    text = `${text.slice(0, from)}${begin(name)}\n\n${make()}\n\n${text.slice(to)}`;
  }
  return quoted(page, text);
}

export function writePages() {
  for (const page of pages) writeFileSync(new URL(page, root), pageText(page));
}

function shortTable() {
  return table(
    ['what', 'Millrace', 'the other', 'ahead'],
    shortRows(measuredRows()).map(({ what, row, figure }) => {
      const [ours, theirs, ahead] = results({ row, figure });
      const [name, unit] = row.figure.split(', ');
      const value = unit ? `${name} ${ours} ${unit}` : `${ours} ${name}`;
      return [what, value, `${row.against}: ${theirs}`, ahead];
    }),
  );
}

/**
 * Returns the rows of the short table. A row measured at full speed is shown with the row beside it: if that one has no figure, neither is
 * shown.
 *
 * @param {ReturnType<typeof measuredRows>} all
 */
export function shortRows(all) {
  return all.flatMap(({ row, figure }) => {
    if (!row.readme) return [];
    const chosen = { what: row.readme, row, figure };
    const title = row.beside;
    if (title === undefined) return [chosen];
    const others = all.filter((each) => each.row.bench === row.bench && each.row.case === title);
    const beside = others.find((each) => each.row.peer === row.peer) ?? others[0];
    return beside ? [chosen, { ...beside, what: `↳ ${beside.row.what}` }] : [];
  });
}

/** Returns the table of all measurements. */
export function longTable(measured = measuredRows()) {
  const body = measured.map((each, i, all) => {
    const { row, figure } = each;
    const before = all[i - 1]?.row;
    const isSame = before?.bench === row.bench;
    const [ours, theirs, ahead] = results(each);
    return [
      isSame ? once(row.what, before.what) : `\`${row.bench}\`: ${row.what}`,
      ...[row.figure, ours, `${row.against}: ${theirs}`],
      ...[ahead.replace(' to ', '–'), `${figure.n}`],
    ];
  });
  return table(['case', 'figure', 'ours', 'peer', 'ahead', 'rounds'], body);
}

function tasksTable() {
  const cells = (title, metric, words) => {
    const { ours, theirs, ahead } = told('scale', title, metric, 'bullmq');
    return [words, ours, theirs, ahead];
  };
  const alone = 'durable tasks one at a time';
  return table(
    ['', 'ours', 'BullMQ', 'ahead'],
    [
      cells(
        'durable tasks',
        'tasks_per_s',
        'tasks/s, 5,000 handed in at once, until they are done',
      ),
      cells('durable tasks', 'stored_per_s', 'stored/s'),
      cells('durable tasks', 'cpu_us_per_task', 'CPU µs per task: server, producer and worker'),
      cells(alone, 'stored_per_s', 'stored/s, each call waits for the one before'),
      cells(alone, 'cpu_us_per_task', 'CPU µs per task, each call waits for the one before'),
    ],
  );
}

function roomsTable() {
  const cells = (title, words) => {
    const { ours, theirs, ahead } = told('scale', title, 'cpu_us_per_msg', 'unbatched');
    return [words, ours, theirs, ahead];
  };
  return table(
    ['nodes', 'CPU µs per delivered message', 'one each', 'ahead'],
    [
      cells('rooms 1 node', '1'),
      cells('rooms 2 nodes', '2'),
      cells('rooms 3 nodes', '3'),
      cells('rooms 3 nodes 30k', '3, at 30,000 deliveries/s'),
    ],
  );
}

function adaptersTable() {
  const cells = (peer) =>
    ['socket.io 2 nodes', 'socket.io 2 nodes 10 a turn'].map((title) =>
      told('scale', title, 'cpu_us_per_msg', peer),
    );
  const row = (peer) => [
    `\`@socket.io/${peer}\``,
    ...cells(peer).flatMap(({ theirs, ahead }) => [theirs, ahead]),
  ];
  const [one, ten] = cells('redis-adapter');
  return table(
    ['CPU, µs', 'one broadcast a turn', 'ahead', 'ten', 'ahead'],
    [
      ['`natsAdapter({ broker })`', one.ours, '', ten.ours, ''],
      row('redis-adapter'),
      row('redis-streams-adapter'),
    ],
  );
}

function acceptTable() {
  const figures = (title) =>
    ['handlers_per_connection', 'cpu_us_per_connection', 'p50_us'].map((metric) =>
      figureOf(['c', title, metric, 'uv_listen']),
    );
  const row = (words, side, [calls, cpu, wait]) => [
    words,
    number(1 / calls[side]),
    number(cpu[side]),
    side === 'ours' ? told('c', cpu.case, cpu.metric, cpu.peer).ahead : '',
    number(wait[side]),
  ];
  const alone = (words, title) => row(words, 'theirs', figures(title));
  const batched = (words, title) => row(words, 'ours', figures(title));
  return table(
    ['', 'connections per call', 'CPU µs per connection', 'times better', 'wait, median µs'],
    [
      alone('3 at once, `uv_listen`', 'accept 3'),
      batched('3 at once, `uv_batch_listen`', 'accept 3'),
      batched('3 at once, `FIXED` with `max_batch` 3, as in the paper', 'accept 3 fixed'),
      alone('2,000 at once, `uv_listen`', 'accept storm 2000'),
      batched('2,000 at once, `uv_batch_listen`', 'accept storm 2000'),
    ],
  );
}

/** Returns the cells of a kept figure. */
function told(...of) {
  const figure = figureOf(of);
  const [ours, theirs, ahead] = results({ row: { metric: of[2], scale: 1 }, figure });
  return { ours, theirs, ahead };
}

/** Returns the rows with the whole interval below 1, the furthest first. */
function behindList() {
  return measuredRows()
    .filter(({ figure }) => figure.hi < 1)
    .sort((a, b) => a.figure.ahead - b.figure.ahead)
    .map((each) => {
      const { bench, what, figure, against } = each.row;
      return `- \`${bench}\`: ${what}: ${figure} ${factor(each.figure.ahead)} against ${against}`;
    })
    .join('\n');
}

/** Remarks without which a row says too much; the kept lines have all. */
const limiting = /was the limit|expect noise/;

function runsTable() {
  const machines = new Map();
  for (const { bench, machine } of runs()) {
    const { cpu, cores, kernel, node } = machine;
    const on = [`${cpu}, ${cores} cores`, kernel, node && `Node.js ${node}`].filter(Boolean);
    const link = `[${bench}](../../bench/measured/${bench}.jsonl)`;
    machines.set(on.join(', '), [...(machines.get(on.join(', ')) ?? []), link]);
  }
  const lines = [...machines].map(([on, links]) => `${on}: ${links.join(', ')}.`);
  const notes = runs().flatMap(({ bench, notes: all }) =>
    all.filter((note) => limiting.test(note)).map((note) => `- \`${bench}\`: ${escaped(note)}`),
  );
  return [...lines, notes.join('\n')].filter((part) => part !== '').join('\n\n');
}

/** Escapes a note, so that a page shows no part of it as markup. */
const escaped = (text) => text.replace(/[*_`<>[\]\\|]/g, '\\$&');
