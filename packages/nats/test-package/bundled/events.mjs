import { EventEmitter, once } from 'node:events';
import { bridge } from '@millrace/nats/events';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const emitters = [new EventEmitter(), new EventEmitter()];
  const options = { broker: process.env.BROKER, events: ['event'] };
  const bridges = emitters.map((emitter) => bridge(emitter, options));
  await Promise.all(bridges.map((each) => each.ready()));
  const arrived = once(emitters[1], 'event');
  emitters[0].emit('event', 1, { two: 2 });
  const args = await arrived;
  await Promise.all(bridges.map((each) => each.close()));
  return { args };
});
