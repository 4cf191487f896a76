/** The document, docs/benchmarks/soak.md, as Markdown. */
import { escapeMarkdown } from '../../report/escape.js';
import { duration } from '../../report/numbers.js';
import {
  COUNT_HEADS,
  countRows,
  GROWTH_HEADS,
  growthRow,
  headline,
  KIND_HEADS,
  kindRows,
  LEAD,
  LIMITS,
  TITLE,
} from './words.js';

const HEAD = `<!-- Written by make soak MARKDOWN=docs/benchmarks/soak.md: run it again, or change packages/lab/soak/faults. -->

# ${TITLE}

${LEAD}

    make soak                    # an hour
    make soak SOAK_SECONDS=600

It writes a page with charts, and all samples, into a folder whose name it prints. [packages/lab/soak](../../packages/lab/soak/README.md) says what it does
and how it judges.`;

/**
 * @param {object} result as result.js has it
 * @returns {string}
 */
export function document(result) {
  const { seconds, tookS, every, seed, host, criteria, growth, found, counts } = result;
  const parts = [
    HEAD,
    '## Result',
    `${headline(result)} It ran for ${duration(tookS)} (planned: ${duration(seconds)}), with a fault every ${duration(every)} and seed ${seed}, on ${escapeMarkdown(host.cpu)}, ${host.cores} cores with other work on them (load average ${host.load_average[0].toFixed(1)} at the start), Node.js ${host.node}.`,
    table(
      ['criterion', '', 'judged by'],
      criteria.map(({ name, word, text }) => [name, word, text]),
    ),
    ...criteria
      .filter(({ faults }) => faults.length > 0)
      .map(
        ({ name, faults }) =>
          `${escapeMarkdown(name)}:\n\n${faults
            .slice(0, 20)
            .map((text) => `- ${escapeMarkdown(text)}`)
            .join('\n')}`,
      ),
    '## Memory at rest',
    table(GROWTH_HEADS, growth.map(growthRow)),
    '## Faults',
    table(KIND_HEADS, kindRows(found.faults)),
    '## What was counted',
    table(COUNT_HEADS, countRows(counts)),
    '## How to read it',
    LIMITS.map((text) => `- ${text}`).join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

const row = (cells) => `| ${cells.join(' | ')} |`;

const table = (heads, rows) =>
  [
    row(heads),
    row(heads.map(() => '---')),
    ...rows.map((cells) => row(cells.map((text) => escapeMarkdown(text)))),
  ].join('\n');
