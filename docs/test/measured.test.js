/** The tables of measured figures are what the lines that are kept give, and nobody has written into them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { measuredRows, results, runs } from '../../bench/tables/cells.js';
import { pages, pageText } from '../../bench/tables/pages.js';
import { quotations } from '../../bench/tables/quotes.js';
import { rows } from '../../bench/tables/rows.js';
import { read, root } from '../../scripts/lib/paths.js';
import { spans, tableRows } from './lib/tables.js';

for (const page of pages) {
  test(`${page} has the figures that are kept`, () => {
    assert.equal(read(page), pageText(page), `${page} is old: run node bench/tables/write.js`);
  });
}

test('each benchmark that make bench lists is described, and no other', () => {
  const env = { ...process.env, NAME: '' };
  const listed = execFileSync(process.execPath, [join(root, 'scripts/bench.js')], {
    env,
    encoding: 'utf8',
  });
  const table = tableRows('bench/README.md').filter(({ head }) => head[0] === 'bench');
  const described = table.flatMap(({ cells }) => spans(cells[0]));
  const lines = listed.trim().split('\n');
  assert.deepEqual(
    lines.map((line) => /^(\S+) +[A-Z]/.exec(line)?.[1] ?? line).sort(),
    described.sort(),
  );
});

test('every run that is kept is of a benchmark with rows, and told once', () => {
  const kept = readdirSync(join(root, 'bench/measured')).filter((name) => name.endsWith('.jsonl'));
  assert.deepEqual(
    kept.sort(),
    runs()
      .map(({ bench }) => `${bench}.jsonl`)
      .sort(),
  );
  for (const run of runs()) assert.ok(run.figures.length > 0 && run.machine.cpu, run.bench);
});

test('every row of a run that is kept has its figure', () => {
  const found = measuredRows().map(({ row }) => row);
  const kept = new Set(runs().map(({ bench }) => bench));
  const missing = rows.filter((row) => kept.has(row.bench) && !found.includes(row));
  assert.deepEqual(missing, []);
  assert.ok(found.length > 50);
});

test('the short table has at most twelve rows, and some where Millrace is not ahead', () => {
  const chosen = measuredRows().filter(({ row }) => row.readme);
  assert.ok(chosen.length <= 12, `${chosen.length} rows`);
  assert.ok(chosen.filter(({ figure }) => figure.lo < 1).length >= 2);
});

test('a figure is told in three digits, a share in words, and a ratio with its interval', () => {
  const row = { metric: 'p99_us', scale: 1e-3 };
  const figure = { ours: 29_876, theirs: 144_611, ahead: 4.8404, lo: 1.034, hi: 120.6 };
  assert.deepEqual(results({ row, figure }), ['29.9', '145', '4.84 (1.03 to 121)']);
  const whole = { ours: 1_234_567, bound: 0.000123, ahead: 12.34, lo: 12.34, hi: 12.34 };
  assert.deepEqual(results({ row: { metric: 'x', scale: 1 }, figure: whole }), [
    '1,230,000',
    '0.000123',
    '12.3',
  ]);
  const shares = { ours: 1, theirs: 0.7142, ahead: 1.4, lo: 1.4, hi: 1.4 };
  assert.deepEqual(results({ row: { metric: 'high_success', scale: 1 }, figure: shares }), [
    'all',
    '71.4 %',
    '1.40',
  ]);
});

/** Figures in sentences of which no benchmark keeps a line: by page the words, the file that they come from, and what it says. */
const elsewhere = {
  'docs/deploy.md': [
    ["The study's 1.42 times", 'lab/experiments/compute-container.js', '1.42 times'],
  ],
  // Printed by the program that the sentence before it names.
  'docs/rooms-across-machines.md': [
    ['some 9 µs, an estimate', 'bench/scale/rooms/sizes.js', 'us in this process'],
  ],
};

/** Written by programs, or held to their sources by tests of their own. */
const written = /^docs\/(api\/.*|auto-results|results|go-tournament|fleet|sources)\.md$/;

/** Times as many, a ratio with its interval, a time of less than a millisecond. */
const figures = /\d\s+times\b|\b\d+(\.\d+)?\s+\(\d+(\.\d+)?\s+to\s+\d|\d\s+(µs|ns)\b/g;

/** A page with spaces in place of its tables, its code and what is written into it. */
const prose = (text) =>
  [/<!-- (\w+): written[^>]*-->[\s\S]*?<!-- end of \1 -->/g, /^```[\s\S]*?^```/gm]
    .concat([/^ {4}.*$/gm, /^\|.*$/gm, /`[^`\n]*`/g, /\]\([^)]*\)/g])
    .reduce((left, kind) => left.replace(kind, (found) => found.replace(/\S/g, ' ')), text);

for (const page of ['README.md', ...markdown('docs')].filter((name) => !written.test(name))) {
  test(`${page}: each figure in a sentence is held to the file that it comes from`, () => {
    const text = read(page);
    const known = [
      ...quotations(page, text),
      ...(elsewhere[page] ?? []).map(([words]) => {
        assert.equal(text.split(words).length, 2, `${page} no longer says: ${words}`);
        return [text.indexOf(words), text.indexOf(words) + words.length];
      }),
    ];
    const loose = [...prose(text).matchAll(figures)].filter(
      ({ index }) => !known.some(([from, to]) => from <= index && index < to),
    );
    const where = ({ index }) => text.slice(index - 40, index + 40).replace(/\s+/g, ' ');
    assert.deepEqual(loose.map(where), [], 'write it from a kept line, by bench/tables/quotes.js');
    for (const [words, source, says] of elsewhere[page] ?? []) {
      assert.ok(read(source).includes(says), `${source} does not say ${says}: ${words}`);
    }
  });
}

function markdown(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return ['node_modules', 'test', 'site'].includes(entry.name) ? [] : markdown(path);
    return path.endsWith('.md') ? [path] : [];
  });
}
