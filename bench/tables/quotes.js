/**
 * Figures in the sentences of pages, each with the kept figure that it repeats. `node bench/tables/write.js` writes the present value into
 * the sentence, as it does with tables, and docs/test/measured.test.js fails while a page has another.
 */
import { factor, number } from './cells.js';
import { figureOf } from './store.js';

/**
 * Quotes by page: for each figure its bench, case, metric and peer, and the words around it. `{ours}`, `{theirs}`, `{ahead}`, `{lo}` and `{hi}` stand
 * for its numbers, `{ours*1e-6}` for one in another unit. The words have to be on the page once; a line may break at any space.
 */
const quotes = {
  'docs/reference/auto.md': [
    [
      ['auto', 'start import', 'start_cpu_ms', 'empty module'],
      'with `--import` takes {ours} ms of CPU time, with an empty module in its place {theirs} ms',
    ],
    [
      ['auto', 'start require', 'start_cpu_ms', 'empty module'],
      'with `--require` {ours} ms against {theirs}. Part',
    ],
    [
      ['auto', 'hello auto', 'cpu_us_per_req', 'none'],
      'takes {ours} µs of CPU time per request, without auto {theirs}: {ahead} times as good ({lo} to {hi})',
    ],
    [['auto', 'hello auto', 'added_rss_mb', null], 'It has {ours} MB more memory'],
    [
      ['auto', 'idle auto', 'added_private_mb', null],
      'An idle one has {ours} MB more that no other process shares',
    ],
  ],
  'docs/reference/dashboard.md': [
    [
      ['auto', 'dashboard closed', 'cpu_share', 'none'],
      'uses {theirs*100} % of a core without a dashboard, {ours*100} % without a viewer',
    ],
    [['auto', 'dashboard open', 'cpu_share', 'none'], 'and {ours*100} % with one'],
  ],
  'docs/reference/metrics.md': [
    [['auto', 'scrape', 'collect_cpu_ms', null], 'of each object: {ours} ms of CPU'],
    [['auto', 'scrape', 'text_cpu_ms', null], "{ours} ms with prom-client's text"],
    [['auto', 'scrape 100', 'collect_cpu_ms', null], 'with a hundred of each {ours} and'],
    [['auto', 'scrape 100', 'text_cpu_ms', null], 'and {ours} ms (`make bench'],
  ],
  'docs/reference/net.md': [
    [
      ['accept', 'net 500 batched', 'cpu_us_per_connection', 'plain'],
      'takes {theirs} µs of CPU time per connection, `batchConnections` {ours} µs ({ahead} times as good, {lo} to {hi})',
    ],
    [
      ['accept', 'net 500 held 5', 'cpu_us_per_connection', 'plain'],
      'and with `maxDelay: 5` {ours} µs ({ahead}, {lo} to {hi})',
    ],
    [
      ['accept', 'ws 500 batched', 'cpu_us_per_connection', 'plain'],
      'handshakes of ws it takes {ours} µs against {theirs} µs',
    ],
    [
      ['accept', 'ws 500 held 5', 'cpu_us_per_connection', 'plain'],
      'with `maxDelay: 5` {ours} µs, and the',
    ],
    [
      ['accept', 'ws 500 batched', 'p50_ms', 'plain'],
      'waits for {ours} ms instead of {theirs} ms (`make bench NAME=accept',
    ],
  ],
  'docs/reference/observe.md': [
    [
      ['auto', 'hello observe', 'cpu_us_per_req', 'none'],
      ': {ours} µs of CPU time per request, without Millrace {theirs}: {ahead} times as good ({lo} to {hi})',
    ],
    [['auto', 'hello observe', 'added_rss_mb', null], '- Memory: {ours} MB more'],
  ],
  'docs/reference/stalls.md': [
    [['stalls', 'idle', 'added_share', null], 'needs {ours*100} % of a CPU more'],
    [['stalls', 'memory', 'added_private_mb', null], 'and {ours} MB of memory'],
    [['stalls', 'start', 'added_cpu_ms', null], 'A start takes {ours} ms of CPU time'],
    [['stalls', 'start', 'added_wall_ms', null], 'and {ours} ms of time more'],
    [
      ['stalls', 'requests', 'cpu_us_per_req', 'auto'],
      'takes {ours} µs of CPU time per request, without the watch {theirs}',
    ],
  ],
  'docs/reference/durable-tasks.md': [
    [
      ['scale', 'recovery broker', 'recovery_ms', null],
      'took {ours*1e-3} s after the broker listened again',
    ],
    [['scale', 'recovery worker', 'recovery_ms', null], 'and {ours*1e-3} s for the tasks'],
  ],
  'docs/guides/c.md': [
    [
      ['c', 'fanout 500', 'sends_per_s', 'uv_write'],
      'is sent {ahead} times as fast as by `uv_write` ({lo} to {hi})',
    ],
    [
      ['c', 'fanout 500 x8', 'sends_per_s', 'uv_write'],
      'eight messages of a turn {ahead} times as fast ({lo} to {hi};',
    ],
  ],
  'docs/guides/cpu.md': [
    [
      ['pool', '/health during fib(1,000,000)', 'health_p99_ms', 'blocked'],
      'falls from {theirs} ms to {ours}: `make bench NAME=pool',
    ],
  ],
  'docs/guides/files.md': [
    [
      ['files', '1MB C=100 cold', 'files_per_s', 'fs.promises'],
      '(100 of 1 MB: {ahead} times, interval {lo} to {hi},',
    ],
    [
      ['files', 'http 4KB', 'reqs_per_s', 'fs.promises'],
      'answers {ahead} times as many requests ({lo} to {hi},',
    ],
    [
      ['appends', 'durable C=100', 'appends_per_s', 'appendFile'],
      'do {ahead} times as many a second',
    ],
  ],
  'docs/guides/overload.md': [
    [
      ['guard', 'idle overhead', 'cpu_us_per_req', 'unprotected'],
      'takes {ours} µs of CPU time instead of {theirs}',
    ],
  ],
  'docs/guides/scale.md': [
    [
      ['chat-slice', '500x10 closed', 'msgs_per_s', 'direct'],
      'delivers {ours*1e-6} million messages a second',
    ],
  ],
  'docs/guides/websocket.md': [
    [['chat-slice', '500x10 third', 'p50_ms', 'direct'], '(p50 {ours} ms against {theirs},'],
  ],
  'docs/reference/rooms-across-machines.md': [
    [
      ['scale', 'rooms 3 nodes 30k', 'p50_ms', 'unbatched'],
      'p50 was {ours} ms against {theirs} ({ahead})',
    ],
    [
      ['scale', 'broker hop', 'p50_ms', 'same node'],
      'takes {ours} ms (p50) to a member on another node, and {theirs} to one',
    ],
  ],
};

export const quotingPages = Object.keys(quotes);

/** The text of a page with the present figures in its sentences. */
export function quoted(page, text) {
  return (quotes[page] ?? []).reduce((before, [of, words]) => {
    const figure = figureOf(of);
    const { indices } = found(page, before, words);
    const numbers = [...words.matchAll(placeholder)].map(([, name, scale = 1]) =>
      isFactor.has(name) ? factor(figure[name]) : number(figure[name] * scale),
    );
    // Only the numbers change, so that lines break where they did; the last first, as that moves none before it.
    return numbers.reduceRight((now, told, i) => {
      const [from, to] = indices[i + 1];
      return now.slice(0, from) + told + now.slice(to);
    }, before);
  }, text);
}

/** Positions of the sentences on a page, as [from, to] of its text. */
export const quotations = (page, text) =>
  (quotes[page] ?? []).map(([, words]) => found(page, text, words).indices[0]);

const isFactor = new Set(['ahead', 'lo', 'hi']);
const placeholder = /\{(ours|theirs|ahead|lo|hi)(?:\*([\d.e-]+))?\}/g;

function found(page, text, words) {
  const pattern = words
    .split(placeholder)
    // Of three parts the second and the third are of a placeholder.
    .map((part, i) => (i % 3 === 0 ? escaped(part) : i % 3 === 1 ? '([\\d,.]*\\d)' : ''))
    .join('');
  const all = [...text.matchAll(new RegExp(pattern, 'dg'))];
  if (all.length !== 1) throw new Error(`${page} has ${all.length} times, and not once: ${words}`);
  return all[0];
}

const escaped = (part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+');
