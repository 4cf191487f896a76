import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseHTML } from 'linkedom';
import { escapeHtml, escapeMarkdown, html, markup } from '../escape.js';
import { renderHtml, renderMarkdown } from '../index.js';
import { armIntervals } from '../intervals.js';
import { checkResults } from '../read.js';
import { sampleResults } from './sample.js';

const NASTY = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&|\`\ud800`;

const parse = (text) => parseHTML(text).document;

/** What is wrong with a page, whatever it shows. */
function check(results) {
  const document = parse(renderHtml(results));
  assert.equal(
    document.querySelectorAll('script, img, iframe, link, object, style ~ style').length,
    0,
  );
  assert.equal(document.querySelectorAll('[style], [onerror], [onclick], [srcdoc]').length, 0);
  for (const { localName, attributes } of document.querySelectorAll('svg *')) {
    for (const { name, value } of attributes) {
      assert.doesNotMatch(value, /NaN|Infinity|undefined/, `${localName} ${name}`);
    }
  }
  const shown = document.querySelector('main').textContent;
  assert.doesNotMatch(shown, /NaN|undefined|Infinity|\[object|\bnull\b|true\b.*false/);
  const text = renderMarkdown(results);
  assert.doesNotMatch(text, /NaN|undefined|Infinity|\[object|\bnull\b/);
  return { document, text, shown };
}

/** The same results with the figures and runs changed. */
const changed = (results, figure, rest = {}) => ({
  ...results,
  figures: results.figures.map((each) => ({ ...each, ...figure })),
  ...rest,
});

describe('escaping', () => {
  test('a template escapes what is put in, once', () => {
    assert.equal(escapeHtml(`<a b="c" d='e'>&`), '&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;');
    const inner = html`<b>${'<&'}</b>`;
    assert.equal(
      `${html`${inner}${[inner, '>']}${null}${undefined}${false}${0}${markup('<i>')}`}`,
      '<b>&lt;&amp;</b><b>&lt;&amp;</b>&gt;0<i>',
    );
  });

  test('a cell of Markdown stays one cell', () => {
    assert.equal(
      escapeMarkdown('a|b\nc <d> `e` *f* [g](h)'),
      'a\\|b c &lt;d&gt; \\`e\\` \\*f\\* \\[g\\](h)',
    );
  });

  test('no name, text, command or output becomes markup', () => {
    const results = sampleResults({ rounds: 3, cases: [NASTY, 'two'], treatments: [NASTY] });
    const arms = results.arms.map((arm) => ({ ...arm, command: [NASTY], env: { [NASTY]: NASTY } }));
    const metrics = results.metrics.map((metric) => ({ ...metric, title: NASTY, unit: NASTY }));
    const claims = results.claims.map((claim) => ({
      ...claim,
      text: NASTY,
      source: NASTY,
      why: NASTY,
    }));
    const all = changed(
      results,
      { title: NASTY, unit: NASTY, refused: NASTY },
      {
        arms,
        metrics,
        claims,
        experiment: NASTY,
        question: NASTY,
        about: NASTY,
        partial: NASTY,
        notes: [NASTY],
        host: { [NASTY]: NASTY },
        versions: { [NASTY]: { [NASTY]: 1 } },
        date: NASTY,
      },
    );
    for (const run of all.runs) run.series = { [NASTY]: run.series.msgs_per_s };
    const refused = {
      ...all,
      refusal: { why: `server said ${NASTY}`, advice: NASTY },
      figures: [],
      runs: [],
    };
    for (const each of [all, refused, [all, refused]]) {
      const { text } = check(each);
      assert.doesNotMatch(text, /<script|<img/);
    }
  });
});

describe('what is hardly there', () => {
  const sample = (options) => sampleResults({ rounds: 4, ...options });

  test('one round, and none', () => {
    const { document } = check(sample({ rounds: 1 }));
    assert.ok(document.querySelectorAll('.multiples svg').length > 6);
    check(sample({ rest: { figures: [], runs: [], claims: [] } }));
    check(sample({ rest: { figures: [], runs: [], claims: [], metrics: [], cases: [] } }));
  });

  test('identical values: a line where the curve would be', () => {
    const values = { control: [3, 3, 3], twin: [3, 3, 3], treatment: [3, 3, 3] };
    const { document } = check(changed(sample(), { values, ahead: 1, lo: 1, hi: 1 }));
    const chart = document.querySelector('svg[aria-label="Density of errors"]');
    assert.ok(chart.querySelectorAll('[aria-label="rule"] line').length > 0);
    assert.equal(chart.querySelectorAll('[aria-label="dot"] > *').length, 2);
    assert.ok(chart.querySelectorAll('[aria-label="x-axis tick label"] text').length > 1);
    check(changed(sample(), { values: { control: [0], twin: [0], treatment: [5e-324] } }));
    check(changed(sample(), { values: { control: [-1e140, 1e140], treatment: [0, 1] } }));
  });

  test('a curve that would be too flat to be seen has a height of its own, which is said', () => {
    const values = { control: [1, 2000, 4000], twin: [], treatment: [10, 11, 12] };
    assert.match(check(changed(sample(), { values })).shown, /to a height of its own/);
    assert.doesNotMatch(check(sample()).shown, /to a height of its own/);
  });

  test('no ratio, no p, no twin, no spread, null values', () => {
    const none = { ahead: null, lo: null, hi: null, control: null, treatment: null, shift: null };
    const rest = { p: null, pHolm: null, pRankSum: null, delta: null, twin: null, spread: null };
    const values = { control: [null, null], twin: [], treatment: [null, 4] };
    const { document } = check(
      changed(sample(), { ...none, ...rest, values, level: null, smallest: null, roundsFor: null }),
    );
    assert.equal(document.querySelectorAll('.gain').length, 0);
  });

  test('runs without percentiles, series, costs or probe', () => {
    const results = sample();
    const runs = results.runs.map(({ case: label, role, arm, round }) => ({
      ...{ case: label, role, arm, round, metrics: { msgs_per_s: null } },
      ...{ costs: null, probe: null, latency: null, percentiles: null },
    }));
    check({ ...results, runs, host: null, versions: undefined });
    const zero = results.runs.map((run) => ({
      ...run,
      percentiles: [
        [0, 0],
        [0.5, 0],
        [0.9, 2],
        [1, 3],
      ],
      series: {
        a: [
          [0, null],
          [1, 2],
        ],
      },
    }));
    check({ ...results, runs: zero });
  });

  test('refused, by its figures and altogether; partial', () => {
    const { shown } = check(
      changed(sample(), { finding: 'refused', refused: 'A/A differs, p 0.01' }),
    );
    assert.match(shown, /does not count\. A\/A differs, p 0\.01\./);
    const refusal = { why: 'bytes differ: 9,706 and 799', advice: 'Serve the same.' };
    const refused = check(sample({ rest: { refusal, figures: [], claims: [], runs: [] } }));
    assert.match(refused.shown, /Refused: .*bytes differ/is);
    assert.match(refused.text, /\*\*Refused\.\*\* .*What to do: Serve the same\./s);
    assert.match(check(sample({ rest: { partial: 'stopped' } })).text, /\*\*Partial\.\*\*/);
  });

  test('sixty cases, long names, eight treatments', () => {
    const cases = Array.from({ length: 60 }, (_, i) => `${i} ${'connections '.repeat(9)}`);
    const metrics = sampleResults({ rounds: 2 }).metrics.slice(0, 1);
    const many = sample({ rounds: 2, cases });
    const figures = many.figures.filter(({ metric }) => metric === metrics[0].name);
    const { document } = check({ ...many, metrics, figures, runs: many.runs.slice(0, 12) });
    // Of each case, the statistics, the method.
    assert.equal(document.querySelectorAll('details').length, 62);
    check(sample({ rounds: 2, treatments: [...'abcdefgh'].map((name) => name.repeat(80)) }));
  });

  test('an unknown verdict or finding is shown as it is', () => {
    assert.match(check(changed(sample(), { finding: 'odd' }, { claims: [] })).shown, /odd/);
  });
});

test('several experiments: an index with a row for each claim, then each by itself', () => {
  const [one, two] = [
    sampleResults({ rounds: 6 }),
    sampleResults({ rounds: 6, rest: { claims: [] } }),
  ];
  const { document, text } = check([one, two]);
  const rows = [...document.querySelectorAll('.overview tbody tr')];
  assert.deepEqual(
    rows.map((row) => row.querySelector('.badge').textContent.slice(2)),
    [...one.claims.map(({ verdict }) => verdict), two.figures[0].finding],
  );
  for (const row of rows) {
    assert.ok(document.querySelector(row.querySelector('a').getAttribute('href')));
  }
  assert.equal(document.querySelectorAll('article').length, 2);
  assert.match(text, /^# 2 experiments\n\n\| experiment/);
});

test('the table has the figures, aligned, and the verdict of the claim before the finding', () => {
  const results = sampleResults({ rounds: 12 });
  const { document } = check(results);
  const rows = [...document.querySelectorAll('.figures tbody tr')];
  assert.equal(rows.length, results.figures.length);
  const [first] = results.figures;
  const cells = [...rows[0].querySelectorAll('td')].map((cell) => cell.textContent);
  assert.ok(
    cells.includes(`${first.ahead.toFixed(2)}${first.lo.toFixed(2)}–${first.hi.toFixed(2)}`),
  );
  assert.match(cells.at(-1), new RegExp(results.claims[0].verdict));
});

test('bars have the median of each arm, its interval, and how many times better it is', () => {
  const results = sampleResults({ rounds: 8 });
  const { document } = check(results);
  const [throughput, cpu, ...others] = document.querySelectorAll('.bars > figure');
  assert.equal(others.length, 0);
  assert.match(cpu.querySelector('h3').textContent, /^CPU time per message µs$/);
  const [first] = results.figures;
  assert.match(throughput.querySelector('.ahead').textContent, new RegExp(first.ahead.toFixed(2)));
  const chart = throughput.querySelector('svg');
  const texts = [...chart.querySelectorAll('text')].map(({ textContent }) => textContent);
  const medians = [first.control, first.treatment].map((value) =>
    Math.round(value).toLocaleString('en-US'),
  );
  assert.deepEqual(texts, ['direct', 'adaptive', ...medians]);
  const [control, treatment] = [...chart.querySelectorAll('rect')].map((bar) =>
    Number(bar.getAttribute('width')),
  );
  assert.ok(Math.abs(treatment / control - first.treatment / first.control) < 0.02);
});

test('the interval of an arm is that of its rounds', () => {
  const results = sampleResults({ rounds: 8, noise: 0.1 });
  for (const { value, lo, hi, arm } of armIntervals(results, { case: '', metric: 'msgs_per_s' })) {
    const values = results.figures[0].values[arm.role];
    assert.ok(Math.min(...values) <= lo && lo < value && value < hi && hi <= Math.max(...values));
  }
  const [single] = armIntervals(sampleResults({ rounds: 1 }), { metric: 'msgs_per_s' });
  assert.deepEqual([single.lo, single.hi], [null, null]);
});

test('each round is a line from arm to arm', () => {
  const { document } = check(sampleResults({ rounds: 8 }));
  const chart = document.querySelector('svg[aria-label="messages per second by round"]');
  assert.equal(chart.querySelectorAll('[aria-label="link"] path').length, 8);
  assert.equal(chart.querySelectorAll('[aria-label="dot"] > *').length, 16);
  assert.equal(check(sampleResults({ rounds: 1 })).document.querySelectorAll('.rounds').length, 0);
});

test('p values and effect sizes are folded', () => {
  const { document } = check(sampleResults({ rounds: 8 }));
  for (const table of document.querySelectorAll('table.figures, table.numbers')) {
    assert.equal(table.closest('details').hasAttribute('open'), false);
  }
  assert.doesNotMatch(document.querySelector('.verdict').textContent, /Cliff|Holm|\bp /);
});

test('every line of a logarithmic axis has its number', () => {
  const { document } = check(
    changed(sampleResults({ rounds: 6 }), { ahead: 60, lo: 0.9, hi: 100 }),
  );
  const chart = document.querySelector('svg[aria-label^="How many times better"]');
  const ticks = [...chart.querySelectorAll('[aria-label="x-axis tick label"] text')];
  assert.deepEqual(
    ticks.map(({ textContent }) => textContent),
    ['1×', '2×', '5×', '10×', '20×', '50×', '100×'],
  );
});

test('a claim of one treatment says nothing of another', () => {
  const results = sampleResults({ rounds: 6, treatments: ['adaptive', 'fixed'] });
  const claims = results.claims.filter(({ arm }) => arm === 'adaptive');
  const { document } = check({ ...results, claims });
  const [first, second] = document.querySelectorAll('.figures tbody tr:not(.group)');
  const claimed = (row) => row.querySelector('.claimed').textContent.includes('≥');
  assert.deepEqual([claimed(first), claimed(second)], [true, false]);
});

test('results are checked: the place of what is wrong is named', () => {
  const good = JSON.parse(JSON.stringify(sampleResults({ rounds: 2 })));
  assert.equal(checkResults(good, 'a.json'), good);
  const wrong = (change, message) => {
    const results = structuredClone(good);
    change(results);
    assert.throws(() => checkResults(results, 'a.json'), {
      code: 'MILLRACE_LAB_E_REPORT',
      message,
    });
  };
  wrong((r) => {
    r.format = 2;
  }, 'a.json holds no results of an experiment: format is 2; it must be 1');
  wrong((r) => {
    delete r.figures[1].metric;
  }, /figures\[1\]\.metric is undefined; it must be a text/);
  wrong((r) => {
    r.figures[0].values.control = ['x'];
  }, /figures\[0\]\.values\.control is \["x"\]; it must be a list of numbers/);
  wrong((r) => {
    r.arms[0].role = 'judge';
  }, /arms\[0\]\.role is "judge"/);
  wrong((r) => {
    r.refusal = { why: 'x' };
  }, /refusal\.advice is undefined/);
  wrong((r) => {
    r.runs = 'y'.repeat(99);
  }, /runs is "y{59}…; it must be a list of objects/);
  assert.throws(() => checkResults(null, 'b'), /it is null; it must be an object/);
});
