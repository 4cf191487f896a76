/**
 * The load generator, a process of its own. It is told what to do by messages, and tells what happened, a slot at a
 * time: `{ drive: { id, port, rate, connections | clients, seed } }`, `{ stop: true }`; `{ id, slot }`, `{ idle: id }`. It
 * asks only servers on this machine.
 */
import { LEASE_MS, MAX_CONNECTIONS, MAX_RATE, SLOT_MS } from '../settings.js';
import { Traffic } from './traffic.js';

let traffic;
let order;
let slots;
let lease;

process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  if (message.drive) drive(message.drive);
  else stop();
});

function drive(next) {
  checkBounds(next);
  if (order?.id !== next.id) {
    stop();
    order = next;
    begin();
  } else if (order.rate !== next.rate) {
    order = next;
    if (slots) traffic.arrive(order.rate);
  }
  clearTimeout(lease);
  lease = setTimeout(expire, Math.min(LEASE_MS, next.leaseMs ?? LEASE_MS));
}

async function begin() {
  const { id, port, connections = 0, clients, seed } = order;
  const begun = new Traffic(port, seed);
  traffic = begun;
  await begun.prepare(clients ?? connections);
  // It may have been stopped meanwhile, or its rate have changed.
  if (traffic !== begun) return;
  if (clients) begun.repeat(clients);
  else begun.arrive(order.rate);
  slots = setInterval(() => process.send({ id, slot: begun.takeSlot() }), SLOT_MS);
}

function expire() {
  process.send({ idle: order.id });
  stop();
}

function stop() {
  clearTimeout(lease);
  clearInterval(slots);
  traffic?.end();
  traffic = undefined;
  order = undefined;
  slots = undefined;
}

function checkBounds({ rate = 0, connections = 0, clients = 0 }) {
  check('requests a second', rate, MAX_RATE);
  check('connections', connections, MAX_CONNECTIONS);
  check('clients', clients, MAX_CONNECTIONS);
}

function check(what, value, most) {
  if (!(value >= 0 && value <= most))
    throw new RangeError(`${value} ${what}; allowed are 0 to ${most}`);
}
