/**
 * Writes docs/benchmarks/auto-results.md from what the experiments of this folder have found. `make experiment NAME=auto` does so at its end;
 * `node bench/claims/auto/page.js PATH...` takes files of results, or folders of them: the newest of each experiment.
 */
import { writeFileSync } from 'node:fs';
import {
  controlOf,
  escapeMarkdown,
  facts,
  headline,
  mainMetric,
  NONE,
  rows,
} from '@millrace/lab/report';
import { newestOf } from '../lib/newest.js';
import { BY_HAND } from './arms.js';

const PAGE = new URL('../../../docs/benchmarks/auto-results.md', import.meta.url);

const INTRO = `# What auto gains for unchanged applications

Plain applications on common packages (ws, socket.io, Express, Fastify, Next.js), without a line of Millrace, each started in two ways:
\`node app.js\`, and the same with \`--import\` of [millrace/auto](../reference/auto.md). They are in \`bench/claims/auto/apps\`.
The lab starts them in turn, checks that both did the same work, and compares them in pairs ([how](../reference/lab.md)).

Where there is something to gain, a third arm, *by hand*, shows what is within reach: a preload of some 20 lines does for this one
application what auto does. It may do what auto must not: hold the loop while a disk is slow, skip the callbacks of \`send\`, share one result between
callers. auto leaves queries of PostgreSQL and event streams alone; the gains of \`pipelined\` and \`Rooms\` stand beside it.

This page is generated. To measure one of them, or all of them and write this page:

    make experiment NAME=auto-ws-broadcast SIZE=quick ROUNDS=9
    make experiment NAME=auto SIZE=quick ROUNDS=9

*Times better* is estimated from the ratio of each round; above 1, auto is better. *Undecided*: these rounds neither show a
gain nor rule one out. A figure that stands under an arm without a name is of the arm above.`;

const WHERE = `## Where there is nothing to gain

- Files on overlayfs, the file system of most container images, on tmpfs and on network file systems: they cannot be read without waiting.
- Frames that are alone in their turn: the first frame of a socket leaves inside its \`send()\`, as without auto, and has nothing to share a
  write with. That holds for a broadcast at a low rate too. The gain begins where turns bring a socket several frames.
- Servers that ask PostgreSQL: auto leaves queries alone.
- ioredis with \`enableAutoPipelining\`: it already gathers what \`MILLRACE=net\` would gather.
- The first second: the code of auto is still being compiled. A process that lives for seconds gains less, or
  loses.`;

const table = (heads, list) =>
  [heads, heads.map(() => '---'), ...list].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function experiment(results) {
  const { question, about, notes } = results;
  const { title } = headline(results);
  return [
    `## ${escapeMarkdown(question)}`,
    escapeMarkdown(about ?? ''),
    `**${escapeMarkdown(title)}**`,
    figures(results),
    notes.map((note) => `- ${escapeMarkdown(note)}`).join('\n'),
  ];
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
  const heads = [...(hasCases ? ['case'] : []), ...(hasArms ? ['arm'] : []), 'figure'];
  heads.push(controlOf(results), hasArms ? 'the arm' : list[0].arm);
  heads.push('times better', 'interval', 'finding');
  return table(
    heads.map(escapeMarkdown),
    list.map((row, i) => {
      const above = list[i - 1];
      const isSameCase = above?.case === row.case;
      return [
        ...(hasCases ? [isSameCase ? '' : row.case] : []),
        ...(hasArms ? [isSameCase && above.arm === row.arm ? '' : row.arm] : []),
        row.unit ? `${row.title}, ${row.unit}` : row.title,
        ...[row.control, row.treatment, row.times, row.interval, row.word],
      ].map(escapeMarkdown);
    }),
  );
}

/** How all of them were measured; seeds, rounds and dates differ. */
function measured(all) {
  const shown = ['date', 'rounds of all arms', 'order', 'cores that other work took'];
  const cell = (text = '–') => escapeMarkdown(text.replace('random, ', ''));
  const of = (results) => new Map(facts(results));
  const same = [...of(all[0])].filter(([name]) =>
    ['processor', 'cores', 'memory', 'system', 'Node.js'].includes(name),
  );
  return [
    '## How it was measured',
    same.map(([name, text]) => `${name}: ${escapeMarkdown(text)}`).join('; '),
    'Arms ran in random order.',
    table(
      ['experiment', ...shown],
      all.map((results) => [
        results.experiment,
        ...shown.map((name) => cell(of(results).get(name))),
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
