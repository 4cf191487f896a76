/** Draws one turn of Node.js's event loop with the places where batches leave. Phases are those of docs/explanation/design.md. */
import { line, lineHeight, svg, text, width, wrapped } from './svg.js';

/** Phases in the order of a turn. `acts`: a batch leaves here. */
const steps = [
  { name: 'timers', words: 'The end of a hold, if there is one: an idle loop has no timer.' },
  {
    name: 'poll',
    words:
      'Sockets and files are read, and callbacks run. They push, emit, publish and call: each event waits in its queue, without a system call.',
  },
  {
    name: 'microtasks',
    words: 'After each callback. Calls of batch() leave together here, and reads of files.',
    acts: true,
  },
  {
    name: 'check',
    words:
      'All that this turn has brought is there. Its batches leave: one write per socket, one transaction, one wake-up.',
    acts: true,
  },
  { name: 'close', words: 'Nothing to do. The next turn begins.' },
];

const box = { left: 22, width: 104, height: 34 };
const wordsLeft = 142;

export function turn() {
  let y = 44;
  const body = steps.flatMap(({ name, words, acts = false }, i) => {
    const lines = wrapped(words, width - wordsLeft);
    const height = Math.max(box.height, lines.length * lineHeight);
    const middle = y + height / 2;
    const top = middle - box.height / 2;
    const next = y + height + 22;
    const parts = [
      `<rect class="${acts ? 'act' : 'box'}" x="${box.left}" y="${top}" width="${box.width}" height="${box.height}" rx="6" stroke-width="${acts ? 2 : 1}"/>`,
      text(box.left + box.width / 2, middle + 4, name, acts ? 'strong' : '', 'middle'),
      ...lines.map((each, n) =>
        text(wordsLeft, middle + 4 + (n - (lines.length - 1) / 2) * lineHeight, each),
      ),
    ];
    const { length } = steps;
    if (i < length - 1) {
      const nextLines = wrapped(steps[i + 1].words, width - wordsLeft).length;
      const nextHeight = Math.max(box.height, nextLines * lineHeight);
      const nextTop = next + nextHeight / 2 - box.height / 2;
      parts.push(...arrow(box.left + box.width / 2, top + box.height, nextTop));
    }
    y = next;
    return parts;
  });
  const [first, last] = [44 + box.height / 2, y - 22 - box.height / 2];
  return svg({
    title: 'One turn of the event loop',
    description:
      'The phases of a turn from top to bottom: timers, poll, microtasks, check, close, and back to the first. Events are queued in the poll phase. Batches leave after the microtasks and in the check phase.',
    height: y - 6,
    body: [
      ...body,
      `<path class="arrow" d="M${box.left} ${last}H8V${first + 0.5}H${box.left - 2}m-5 -4l5 4l-5 4"/>`,
      text(0, 34, 'blue: batches leave', 'quiet'),
    ],
  });
}

const arrow = (x, from, to) => [
  line(x, from, x, to - 2, 'arrow'),
  `<path class="arrow" d="M${x - 4} ${to - 7}l4 5l4 -5"/>`,
];
