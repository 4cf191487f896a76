// A node that closes its connection at the moment WHEN, and then has nothing left that keeps it.
import { once } from 'node:events';
import { Link } from '../../dist/link.js';
import { patient } from '../patience.js';
import { say } from '../talk.js';

const link = new Link(patient(process.env.URL), 'test');
link.subscribe('x', () => {});
const when = {
  up: () => link.ready(),
  connecting: () => {},
  down: () => once(link, 'down'),
  away: async () => {
    await link.ready();
    say('up');
    await once(link, 'down');
  },
  ready: () => {
    link.ready().catch(({ code }) => say(code));
  },
};
await when[process.env.WHEN]();
await link.close();
say('closed');
