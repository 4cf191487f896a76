// A node whose listeners throw: what is heard goes on, and the errors come where nobody catches them.
import { Link } from '../../dist/link.js';
import { patient } from '../patience.js';
import { say } from '../talk.js';

const thrown = [];
process.on('uncaughtException', ({ message }) => thrown.push(message));
const fail = (message) => () => {
  throw new Error(message);
};
const [a, b] = [1, 2].map(() => new Link(patient(process.env.URL), 'test'));
a.on('up', fail('up'));
await Promise.all([a.ready(), b.ready()]);
a.subscribe('x', fail('message'));
await a.flush();
b.publish('x', Buffer.from('1'));
b.publish('x', Buffer.from('2'));
await b.flush();
await a.flush();
await new Promise((resolve) => setImmediate(resolve));
say(thrown);
await Promise.all([a.close(), b.close()]);
