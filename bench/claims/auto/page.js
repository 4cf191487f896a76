/**
 * Writes docs/benchmarks/auto-results.md from what the experiments of this folder have found. `make experiment NAME=auto` does so at its end;
 * `node bench/claims/auto/page.js PATH...` takes files of results, or folders of them: the newest of each experiment.
 */
import { writeFileSync } from 'node:fs';
import { controlOf, escapeMarkdown, facts, mainMetric, NONE, rows } from '@millrace/lab/report';
import { newestOf } from '../lib/newest.js';
import { BY_HAND } from './arms.js';

const PAGE = new URL('../../../docs/benchmarks/auto-results.md', import.meta.url);

const INTRO = `# What auto gains for unchanged applications

Plain applications on common packages (ws, socket.io, Express, Fastify, Next.js), without a line of Millrace, started as
\`node app.js\`, and with \`--import\` of [millrace/auto](../reference/auto.md). They are in \`bench/claims/auto/apps\`.
[The lab](../reference/lab.md) checks that both did the same work, and compares them in pairs.

Where there is something to gain, a third arm, *by hand*, shows what is within reach: a preload of some 20 lines for this one
application. It may do what auto must not: hold the loop while a disk is slow, skip the callbacks of \`send\`, share one result between
callers. auto leaves queries of PostgreSQL and event streams alone; the gains of \`pipelined\` and \`Rooms\` stand beside it.

To measure one of them, or all of them and write this page:

    make experiment NAME=auto-ws-broadcast SIZE=quick ROUNDS=9
    make experiment NAME=auto SIZE=quick ROUNDS=9

*Times better* is estimated from the ratio of each round, with an interval of 95 % or more; above 1, the arm is better. *Undecided*: these
rounds neither show a gain nor rule one out. Of several arms, the first figure of each has its name. Generators check each delivery. Native
sends use \`send()\` or io_uring, whichever a probe at the start finds faster; only calls of \`send()\` are counted. Memory that rises
in a run may be a leak, a cache that fills, or garbage not collected yet.`;

const WHERE = `## Where there is nothing to gain

- Files on overlayfs, the file system of most container images, on tmpfs and on network file systems: they cannot be read without waiting.
- Frames that are alone in their turn, as in a broadcast at a low rate. The gain begins where turns bring a socket several frames.
- ioredis with \`enableAutoPipelining\`: it already gathers what \`MILLRACE=net\` would gather.
- The first second: the code of auto is still being compiled. A process that lives for seconds gains less, or loses.`;

const line = (cells) => `| ${cells.join(' | ')} |`;
const table = (heads, list) =>
  [line(heads), `|${heads.map(() => '---').join('|')}|`, ...list.map(line)].join('\n');

function experiment(results) {
  const { question, about, notes } = results;
  return [
    `## ${escapeMarkdown(question)}`,
    escapeMarkdown(about ?? ''),
    figures(results),
    [...undecided(results), ...merged(notes)].map((note) => `- ${escapeMarkdown(note)}`).join('\n'),
  ];
}

/** Reasons why the main figure of auto is undecided, where it has one case. */
function undecided({ cases, ...results }) {
  const [first] = results.figures.filter(({ metric }) => metric === mainMetric(results)?.name);
  if (cases.length > 1 || first?.finding !== 'undecided' || !first.why) return [];
  return [`${first.why.charAt(0).toUpperCase()}${first.why.slice(1)}.`];
}

const RISE = /^Memory of (.+) rose by ([\d.]+ MB\/s) while it was measured, by (\d+ %) in a run: /;

/** Merges the notes of all arms whose memory rose; the page says once what that may be. */
function merged(notes) {
  const rises = notes.map((note) => RISE.exec(note)).filter((found) => found !== null);
  if (rises.length === 0) return notes;
  const told = rises.map(([, arm, perSecond, share]) => `${arm} by ${share} (${perSecond})`);
  return [`Memory rose in a run: ${told.join(', ')}.`, ...notes.filter((note) => !RISE.test(note))];
}

function figures(results) {
  // What a run could not tell, as latencies of a generator that was late, is in the notes.
  const list = rows(results).filter(
    ({ control, treatment, arm, metric }) =>
      ![control, treatment].includes(NONE) &&
      (arm !== BY_HAND || metric === mainMetric(results)?.name),
  );
  if (list.length === 0) return '';
  const hasCases = results.cases.length > 1;
  const hasArms = new Set(list.map(({ arm }) => arm)).size > 1;
  const heads = [...(hasCases ? ['case'] : []), 'figure', controlOf(results)];
  heads.push(hasArms ? 'the arm' : list[0].arm, 'times better', 'finding');
  return table(
    heads.map(escapeMarkdown),
    list.map((row, i) => {
      const above = list[i - 1];
      const isSameCase = above?.case === row.case;
      const isFirst = hasArms && !(isSameCase && above.arm === row.arm);
      const figure = row.unit ? `${row.title}, ${row.unit}` : row.title;
      return [
        ...(hasCases ? [isSameCase ? '' : row.case] : []),
        isFirst ? `${row.arm}: ${figure}` : figure,
        ...[row.control, row.treatment, `${row.times} (${row.interval})`, row.word],
      ].map(escapeMarkdown);
    }),
  );
}

/** Describes how all of them were measured; seeds, rounds and dates differ. */
function measured(all) {
  const shown = {
    date: 'date, UTC',
    'rounds of all arms': 'rounds',
    order: 'seed',
    'cores that other work took': 'cores of other work',
  };
  const cell = (text = '–') => escapeMarkdown(text.replace(/^random, seed | UTC$/, ''));
  const of = (results) => new Map(facts(results));
  const same = [...of(all[0])].filter(([name]) =>
    ['processor', 'cores', 'memory', 'system', 'Node.js'].includes(name),
  );
  return [
    '## How it was measured',
    [...same, ['order of the arms', 'random']]
      .map(([name, text]) => `${name}: ${escapeMarkdown(text)}`)
      .join('; '),
    table(
      ['experiment', ...Object.values(shown)],
      all.map((results) => [
        results.experiment,
        ...Object.keys(shown).map((name) => cell(of(results).get(name))),
      ]),
    ),
  ];
}

const all = newestOf(process.argv.slice(2));
if (all.length === 0) {
  console.error('there are no results; name files or folders of those of experiments auto-*');
  process.exit(2);
}
const parts = [INTRO, ...all.flatMap(experiment), WHERE, ...measured(all)];
writeFileSync(PAGE, `${parts.filter((part) => part !== '').join('\n\n')}\n`);
