/** What is done to the service, by kind. Each resolves when it is done, with what there is to tell. */
import { setTimeout as sleep } from 'node:timers/promises';
import { slowReaders } from './readers.js';

const BLOCK_MS = 2_000;
const AWAY_MS = 500;

/** What each is called. */
export const TITLES = {
  process: 'a process is killed',
  broker: 'the broker is killed',
  readers: 'slow readers',
  loop: 'a loop is blocked',
  thread: 'a pool thread is ended',
};

/** @type {Record<string, (service: import('./service.js').Service, fault: object) => Promise<string>>} */
const kinds = {
  async process(service, { slot }) {
    const pid = await service.pidOf(slot);
    process.kill(pid, 'SIGKILL');
    return `process ${slot}, ${pid}, SIGKILL`;
  },

  async broker(service, { choice }) {
    await service.broker.kill();
    const ms = Math.round(AWAY_MS * (1 + 3 * choice));
    await sleep(ms);
    await service.broker.start();
    return `SIGKILL, started again after ${ms} ms`;
  },

  async readers(service) {
    const { given, up } = await slowReaders(service);
    service.ledger.count('slow readers', given);
    service.ledger.count('slow readers given up', up);
    if (up === 0) service.ledger.fault(`none of ${given} slow readers was given up`);
    return `${up} of ${given} given up`;
  },

  async loop(service, fault) {
    const { who, pid } = await anyOf(service, fault);
    await service.ask(pid, 'block', { ms: BLOCK_MS });
    return `of process ${who}, for ${BLOCK_MS / 1000} s`;
  },

  async thread(service, fault) {
    const { who, pid } = await anyOf(service, fault);
    const ended = await service.ask(pid, 'end a thread');
    return `of process ${who}${ended ? '' : ', which has none'}`;
  },
};

export const inject = (service, fault) => kinds[fault.kind](service, fault);

/** Also the one that is never killed. */
async function anyOf(service, { choice }) {
  const { bySlot } = await service.processes();
  const slots = [...bySlot.keys()].sort((a, b) => a - b);
  const who = slots[Math.floor(choice * slots.length)];
  return { who, pid: bySlot.get(who) };
}
