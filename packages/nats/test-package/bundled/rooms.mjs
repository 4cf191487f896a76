import { natsRooms } from '@millrace/nats/rooms';
import { Rooms } from 'millrace/ws';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const across = natsRooms({ broker: process.env.BROKER });
  const all = [new Rooms({ across }), new Rooms({ across })];
  await Promise.all(all.map((rooms) => rooms.ready()));
  while (all.some((rooms) => rooms.stats().across.nodes === 0)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (const rooms of all) rooms.close();
  await Promise.all(all.map((rooms) => rooms.closed()));
  return { states: all.map((rooms) => rooms.stats().across.link.state) };
});
