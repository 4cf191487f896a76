import { limits } from '../../../examples/chat/limits.js';
import { openStorage } from '../../../examples/chat/storage/index.js';
import { ROOM } from './visitors.js';

const PAGE = 5000;
/** For a page of long messages, also where the machine is busy. */
const READ_MS = 120_000;
const MARKER = /^#(\d+)\.(\d+)\./;

/**
 * What is wrong with what the chat has saved, a sentence each.
 *
 * Every sender of the generator counts from 0 in each run, so in the order of the ids its numbers must go up one by
 * one or start again at 0: then none is missing, doubled or out of order among those that were acknowledged.
 *
 * @param {string} database path or URL
 * @param {object} wanted
 * @param {number} wanted.rooms of the generator at most
 * @param {number} wanted.acks that the generator got
 * @param {string[]} [wanted.others] rooms of all others
 * @param {Map<number, string | undefined>} wanted.acknowledged ids of all others, with the text where it is known
 * @returns {Promise<string[]>}
 */
export async function faultsOfSaved(database, { rooms, acks, acknowledged, others = [ROOM] }) {
  const storage = await openStorage(database, { limits: { ...limits, storageTimeoutMs: READ_MS } });
  const faults = [];
  try {
    const bySender = new Map();
    let saved = 0;
    for (let room = 0; room < rooms; room++) {
      for await (const { id, text } of messages(storage, `load-${room}`)) {
        const [, sender, seq] = MARKER.exec(text) ?? [];
        if (!bySender.has(sender)) bySender.set(sender, []);
        bySender.get(sender).push({ id, seq: Number(seq) });
        saved++;
      }
    }
    if (saved !== acks) faults.push(`${saved} messages are saved, ${acks} were acknowledged`);
    for (const [sender, sent] of bySender) faults.push(...gaps(sender, sent));

    const missing = new Map(acknowledged);
    for (const room of others) {
      for await (const { id, text } of messages(storage, room)) {
        const wanted = missing.get(id);
        if (wanted !== undefined && wanted !== text) {
          faults.push(
            `message ${id} is saved as ${JSON.stringify(text)}, it was ${JSON.stringify(wanted)}`,
          );
        }
        missing.delete(id);
      }
    }
    for (const id of missing.keys()) faults.push(`message ${id} was acknowledged and is not saved`);
    return faults;
  } finally {
    await storage.close();
  }
}

function gaps(sender, sent) {
  sent.sort((a, b) => a.id - b.id);
  const faults = [];
  let before = -1;
  for (const { id, seq } of sent) {
    if (seq !== before + 1 && seq !== 0) {
      faults.push(`sender ${sender} has number ${seq} after ${before} (message ${id})`);
    }
    before = seq;
  }
  return faults;
}

/** A room's messages, the newest page first. */
async function* messages(storage, room) {
  for (let before = null; ; ) {
    const page = await storage.history(room, before, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    before = page[0].id;
  }
}
