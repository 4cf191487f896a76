/** First page: README.md below a head with the benefit, one command, and figures of the table in README.md. */
import { measuredRows, results } from '../../bench/tables/cells.js';
import { shortRows } from '../../bench/tables/pages.js';

/** Features by the benchmark that measures them. */
const FEATURES = [
  [
    'fanout',
    'WebSockets',
    'Frames of one loop turn leave in one write per socket.',
    'guides/websocket',
  ],
  [
    'batch',
    'Calls and inserts',
    'Calls of one tick become one transaction.',
    'reference/millrace#batch',
  ],
  ['files', 'Files', 'Files asked for in one tick are read together.', 'guides/files'],
  ['guard', 'Overload', 'An overloaded server keeps answering what matters.', 'guides/overload'],
  ['pool', 'CPU tasks', 'Tasks reach worker threads in batches.', 'guides/cpu'],
  ['c', 'C and Go', 'The same engine beside an unmodified libuv, and as a Go module.', 'guides/c'],
];

/** Front matter of the page, for the layout `home` of VitePress. */
export function landing() {
  const rows = shortRows(measuredRows());
  return {
    layout: 'home',
    hero: {
      name: 'Millrace',
      text: 'The same work with fewer system calls',
      tagline:
        'Adaptive event batching for Node.js, libuv and Go. For back-end engineers whose process runs short of CPU, always or in bursts.',
      actions: [
        { theme: 'brand', text: 'Getting started', link: '/docs/getting-started' },
        { theme: 'alt', text: 'What was measured', link: '/docs/benchmarks/measured' },
        { theme: 'alt', text: 'When not to use it', link: '/docs/explanation/limits' },
      ],
    },
    features: FEATURES.map(([bench, title, text, page]) => ({
      title,
      details: `${text}<br><small>${figuresOf(bench, rows)}</small>`,
      link: `/docs/${page}`,
    })),
  };
}

/** The flattering row of a benchmark, and the sober one below it. */
function figuresOf(bench, rows) {
  const at = rows.findIndex(({ row, what }) => row.bench === bench && !what.startsWith('↳'));
  if (at < 0) throw new Error(`README.md has no row of the benchmark ${bench}`);
  return rows
    .slice(at, at + 2)
    .filter(({ row }) => row.bench === bench)
    .map((each) => {
      const [, , ahead] = results(each);
      const { row, what } = each;
      return `<b>${ahead.split(' ')[0]}×</b> ${plain(row.against)}: ${plain(what.replace('↳ ', ''))}`;
    })
    .join('<br>');
}

const plain = (cell) => cell.replaceAll('`', '').trim();
