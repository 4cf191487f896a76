import { armsOf, hasAuto, hasCounted } from './auto/arms.js';
import { applicationMetrics, latencies } from './auto/metrics.js';
import { rate } from './auto/streams-open.js';

export const question = 'What do auto and Rooms bring a server of event streams?';

export const about =
  'A server of node:http writes what is posted, 100 bytes, to 500 readers of server-sent events. The second arm is the same program with ' +
  'auto, which does nothing for it. In the third one Rooms of millrace/ws take the place of its set of responses. Closed loop: 50 publishers ' +
  'post their next message when the last one has arrived; what comes in one turn leaves in one write per reader. With Rooms the readers are ' +
  `the limit of that number, and not its cost. Open loop: ${rate} messages a second, mostly alone in their turn, where the gain is one chunk for ` +
  'all readers, and one native call.';

const { control: plain, auto } = armsOf('event-streams.js', { isOn: hasAuto });
const { control: rooms } = armsOf('../event-streams-rooms.js', {
  isOn: hasCounted('rooms', 'deliveries'),
});

export const control = plain;
export const treatment = [auto(), { ...rooms, name: 'Rooms' }];

const file = (name) => new URL(`./auto/${name}`, import.meta.url).href;

export const load = {
  kind: 'script',
  file: ({ isOpen }) => file(isOpen ? 'streams-open.js' : 'streams-closed.js'),
  connections: 500,
  warmup: ({ size }) => (size === 'quick' ? 1 : 3),
  seconds: ({ size }) => (size === 'quick' ? 1.5 : 5),
};

export const cases = [
  { label: 'closed loop', isOpen: false },
  { label: `${rate} messages/s`, isOpen: true },
];

export const metrics = [...applicationMetrics('delivery'), ...latencies];

export const rounds = { quick: 6, paper: 20 };
