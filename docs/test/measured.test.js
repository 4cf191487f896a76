/** The tables of measured figures are what the lines that are kept give, and nobody has written into them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CLAIMS } from '../../bench/claims/lib/claims.js';
import { claimRows } from '../../bench/claims/suite/claim-rows.js';
import { judgeClaims, valuesOfLines } from '../../bench/go/judge.js';
import { LEAST_ROUNDS, LEVEL, timesBetter } from '../../bench/lib/statistics.js';
import { measuredRows, results, runs } from '../../bench/tables/cells.js';
import { pages, pageText, shortRows } from '../../bench/tables/pages.js';
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

test('every interval that is kept is that of its rounds, with a level of 95 % or more', () => {
  for (const { bench, figures } of runs()) {
    for (const figure of figures) {
      const name = [bench, figure.case, figure.metric, figure.peer].join(', ');
      assert.ok(figure.n >= LEAST_ROUNDS && figure.level >= LEVEL, name);
      assert.equal(figure.rounds.length, figure.n, name);
      const [ours, theirs] = [0, 1].map((i) => figure.rounds.map((pair) => pair[i]));
      const found = timesBetter(figure.better, ours, theirs);
      for (const key of ['ahead', 'lo', 'hi', 'level']) {
        assert.ok(
          Math.abs(figure[key] / found[key] - 1) < 1e-3,
          `${name}: ${key} is ${found[key]}`,
        );
      }
    }
  }
});

test('every row of a run that is kept has its figure', () => {
  const found = measuredRows().map(({ row }) => row);
  const kept = new Set(runs().map(({ bench }) => bench));
  const missing = rows.filter((row) => kept.has(row.bench) && !found.includes(row));
  assert.deepEqual(missing, []);
  assert.ok(found.length > 50);
});

test('docs/research/results.md has the verdicts that the kept lines of the tournament give', () => {
  const judged = judgeClaims(
    valuesOfLines(runs().find(({ bench }) => bench === 'go')?.figures ?? []),
  );
  const told = tableRows('docs/research/results.md').filter(({ head }) => head[0] === 'claim');
  const ofGo = CLAIMS.filter(({ text }) => judged.some((each) => each.text === text));
  for (const { listed, verdict } of claimRows(ofGo, [], { judged })) {
    const cells = told.find(
      (row) => row.head[1] === 'section' && row.cells[0] === listed.text,
    )?.cells;
    const again =
      'run make experiment SIZE=medium, or node bench/claims/suite/main.js --from its results';
    assert.ok(
      cells?.some((cell) => cell.split(':')[0] === verdict),
      `${listed.text}: ${again}`,
    );
  }
});

test('the short table has at most twelve subjects, and some where Millrace is not ahead', () => {
  const all = measuredRows();
  assert.ok(rows.filter(({ readme }) => readme).length <= 12);
  assert.ok(shortRows(all).filter(({ figure }) => figure.lo < 1).length >= 2);
});

test('a row of the short table that is measured as fast as it goes stands above the one beside it', () => {
  const chosen = shortRows(measuredRows()).map(({ row }) => row);
  for (const [i, row] of chosen.entries()) {
    if (row.beside === undefined) continue;
    assert.deepEqual([chosen[i + 1]?.bench, chosen[i + 1]?.case], [row.bench, row.beside]);
  }
});

test('without the figure of the one beside it, it is left out', () => {
  const [closed, atRate] = ['500x10 closed', '500x10 143k'].map((title) =>
    rows.find((row) => row.bench === 'fanout' && row.case === title),
  );
  const figure = { ours: 1, theirs: 1, ahead: 1, lo: 1, hi: 1, n: 6, level: 0.969 };
  const told = (some) => shortRows(some.map((row) => ({ row, figure }))).map(({ what }) => what);
  assert.deepEqual(told([closed]), []);
  assert.deepEqual(told([atRate, closed]), [closed.readme, `↳ ${atRate.what}`]);
});

test('every case of the short table that is one of many at once has one beside it, with a row', () => {
  for (const row of rows.filter(({ readme }) => readme)) {
    const title = row.beside;
    if (/as fast as|at once|ask again|as many|on two worker threads|of an addon/.test(row.readme)) {
      assert.ok(title, `${row.bench}: ${row.case} has no case beside it`);
    }
    if (title === undefined) continue;
    assert.ok(
      rows.some((each) => each.bench === row.bench && each.case === title),
      `${row.bench}: ${title} has no row`,
    );
  }
});

test('a figure has three digits, a share is in words, and a ratio has its interval', () => {
  const row = { metric: 'p99_us', scale: 1e-3 };
  const level = 0.969;
  const figure = { ours: 29_876, theirs: 144_611, ahead: 4.8404, lo: 1.034, hi: 120.6, level };
  assert.deepEqual(results({ row, figure }), ['29.9', '145', '4.84 (1.03 to 121)']);
  const whole = { ours: 1_234_567, bound: 0.000123, ahead: 12.34, lo: 12.34, hi: 12.34, level };
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
  'docs/guides/deploy.md': [
    ["The study's 1.42 times", 'bench/claims/compute-container.js', '1.42 times'],
  ],
  // Printed by the program that the sentence before it names.
  'docs/reference/rooms-across-machines.md': [
    ['some 9 µs, an estimate', 'bench/programs/scale/rooms/sizes.js', 'us in this process'],
  ],
};

/** Written by programs, or held to their sources by tests of their own. */
const written =
  /^docs\/(api\/.*|(benchmarks|research)\/(auto-results|results|go-tournament|fleet|sources))\.md$/;

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
