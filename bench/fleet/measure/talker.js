/**
 * `node talker.js URL HOW`: links to a broker that publish a batch of one message each in every millisecond (`publish`), take all of
 * them (`subscribe`), subscribe to many subjects (`subjects`) or do nothing but to tick (`tick`). Told anything, it says how many so far.
 */
// biome-ignore lint/style/noRestrictedImports: the cost of a message is measured without rooms
import { Link } from '../../../packages/nats/dist/link.js';
// biome-ignore lint/style/noRestrictedImports: as above
import { encodeBatch } from '../../../packages/nats/dist/wire.js';

/** Links: many that talk, so that the broker is as busy as it would be; few that listen, as each hears all. */
const LINKS = { publish: 16, tick: 16, subscribe: 2, subjects: 1 };
const ROOMS = 100;
const SUBJECTS = 50_000;
const PAYLOAD = Buffer.alloc(100, 'x');

const [url, how] = process.argv.slice(2);
const links = Array.from({ length: LINKS[how] }, () => new Link(url, 'measure'));
await Promise.all(links.map((link) => link.ready()));
let count = 0;

if (how === 'subscribe') {
  const take = () => {
    count += 1;
  };
  for (const link of links) {
    for (let room = 0; room < ROOMS; room += 1)
      link.subscribe(link.subject('room', `${room}`), take);
  }
} else if (how === 'subjects') {
  for (; count < SUBJECTS; count += 1)
    links[0].subscribe(links[0].subject('room', `${count}`), () => {});
} else {
  const isOn = how === 'publish';
  setInterval(() => {
    for (const link of links) {
      count += 1;
      if (!isOn) continue;
      const batch = encodeBatch(link.node, count, [{ flags: 0, data: PAYLOAD }]);
      link.publish(link.subject('room', `${count % ROOMS}`), batch);
    }
  }, 1);
}
await Promise.all(links.map((link) => link.flush()));
process.on('message', () => process.send({ count }));
process.on('disconnect', () => process.exit());
process.send({ ready: true });
