import { messagesPerSecond, p99 } from './chat/metrics.js';
import { ANY, SOURCE } from './chat/paper.js';
import { arms, clients, perSecond, SIZE } from './chat/service.js';

const { direct, adaptive } = arms();

export const question = 'What goes wrong in the chat at two to four times its capacity?';

export const about =
  'Open loop at two and four times what `direct` delivers. Nothing has to arrive here: what is refused, what has not ' +
  'arrived when the load has ended (undelivered), connections that the server closes and crashes are the figures. ' +
  'Unhandled are events inside the server that nobody listened for: the one of its start, in `direct`, where ' +
  'the audit log opens later; experiment emits is about these. Fixed holds are left out. ' +
  SIZE;

const source = `${SOURCE}, section 7.9`;

export const claim = [
  {
    text: 'Crashes under extreme load eliminated completely',
    source,
    metric: 'crashes',
    atLeast: ANY,
    says: {
      'no difference': 'No server crashed: there was nothing to eliminate.',
    },
  },
  {
    text: 'Fewer errors than with standard processing (required)',
    source: `${SOURCE}, section 4.3.2, without a figure`,
    metric: 'refused_percent',
    atLeast: ANY,
    says: {
      'no difference': 'No message was refused, so that there could not be fewer.',
    },
  },
  {
    text: 'Fewer unhandled events than with standard processing (required)',
    source: `${SOURCE}, section 4.3.2, without a figure`,
    metric: 'unhandled',
    atLeast: ANY,
  },
];

export const control = direct;

export const treatment = adaptive;

export const load = {
  ...clients,
  mode: 'open',
  deliveriesRate: ({ rate }) => rate,
  drain: ({ size }) => (size === 'quick' ? 0.2 : 2),
  mayLose: true,
  mayCrash: true,
};

export const cases = [
  { label: perSecond(160_000), rate: 160_000 },
  { label: perSecond(320_000), rate: 320_000, from: 'paper' },
];

const percent = (part, whole) => (whole > 0 ? (100 * part) / whole : null);
const lower = { better: 'lower' };

export const metrics = [
  {
    ...{ name: 'crashes', title: 'crashes of the server', unit: '', ...lower },
    of: ({ crash }) => (crash === null ? 0 : 1),
  },
  {
    ...{ name: 'refused_percent', title: 'messages refused or not taken', unit: '%', ...lower },
    of: ({ values }) => percent(values.refused + values.unsent, values.sent + values.unsent),
  },
  {
    ...{
      name: 'undelivered_percent',
      title: 'deliveries that have not arrived',
      unit: '%',
      ...lower,
    },
    of: ({ values }) => percent(values.lost, values.expected),
  },
  {
    ...{ name: 'closed', title: 'connections closed by the server', unit: '', ...lower },
    of: ({ values }) => values.closed_early,
  },
  {
    ...{ name: 'unhandled', title: 'events without a listener', unit: '', ...lower },
    of: ({ stats }) => stats?.unhandled ?? null,
  },
  messagesPerSecond,
  p99,
];

/** Number of rounds by which each of three metrics can be told from chance, in quick runs too. */
export const rounds = { quick: 7, paper: 50 };
