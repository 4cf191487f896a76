/**
 * A small fleet event by event, with one broker: the other way to find what `fleetTraffic`, `nodeLoad` and `waitMs` work out, for the
 * tests of those. Members publish at random times, loops take in turns what has come, the broker takes one message after the other.
 */
import { randomFrom } from '@millrace/lab/stats';
import { roomsOf } from './crowd.js';
import { Events } from './events.js';

/**
 * @param {object} s the scenario; `heartbeat` and `placement` play no part
 * @param {{ nodes: number, seconds: number, seed: number }} run
 * @returns {{ messages: number, deliveries: number, sends: number, batches: number, batchesIn: number, recordsIn: number, busy: number,
 *   brokerUse: number, waitMs: number }} rates a second of the whole fleet, shares of a loop and of the broker that are in use, and the
 *   mean wait of a message for the broker. The same seed gives the same numbers.
 */
export function simulate(s, { nodes, seconds, seed }) {
  const random = randomFrom(seed);
  const events = new Events();
  const rooms = placed(s, nodes, random);
  const loops = Array.from({ length: nodes }, () => ({ inbox: [], isRunning: false }));
  const count = { messages: 0, deliveries: 0, sends: 0, batches: 0, batchesIn: 0, recordsIn: 0 };
  const broker = { freeAt: 0, busy: 0, wait: 0 };
  const hold = s.hold / 1000;
  const brokerUs = (s.brokerCores * s.brokerShare) ** -1;
  let busy = 0;

  for (const room of rooms) publishLater(room);
  events.runUntil(seconds);
  const perSecond = Object.entries(count).map(([name, many]) => [name, many / seconds]);
  return {
    ...Object.fromEntries(perSecond),
    busy: busy / seconds / nodes,
    brokerUse: broker.busy / seconds,
    waitMs: (broker.wait / count.batches) * 1000,
  };

  /** Schedules the next message of a room. One process for all its members is as random as one of each. */
  function publishLater(room) {
    const gap = -Math.log(1 - random()) / (room.members.length * (s.rate / s.rooms));
    events.after(gap, () => {
      count.messages += 1;
      const at = room.members[Math.floor(random() * room.members.length)];
      arrive(at, { room, records: 1, isOwn: true });
      publishLater(room);
    });
  }

  function arrive(at, item) {
    loops[at].inbox.push(item);
    if (!loops[at].isRunning) startTurn(at);
  }

  /** A hold is a clock that all that comes between two ticks of it waits for. */
  function startTurn(at) {
    loops[at].isRunning = true;
    const wait = hold > 0 ? hold - (events.now % hold) : 0;
    events.after(wait, () => turn(at));
  }

  function turn(at) {
    const { inbox } = loops[at];
    loops[at].inbox = [];
    const { work, batches } = handle(at, inbox);
    busy += work;
    events.after(s.turnUs / 1e6 + work, () => {
      for (const batch of batches) toBroker(batch);
      if (loops[at].inbox.length > 0) startTurn(at);
      else loops[at].isRunning = false;
    });
  }

  /** Work of a turn, s, and what it has for other nodes. */
  function handle(at, inbox) {
    const byRoom = new Map();
    let us = 0;
    for (const { room, records, isOwn } of inbox) {
      const found = byRoom.get(room) ?? { own: 0, all: 0 };
      byRoom.set(room, found);
      found.all += records;
      if (isOwn) found.own += records;
      us += isOwn ? s.receiveUs : s.batchUs + records * s.recordUs;
    }
    const batches = [];
    for (const [room, { own, all }] of byRoom) {
      const members = room.at.get(at);
      count.deliveries += members * all;
      count.sends += members;
      us += members * (s.sendUs + all * s.deliverUs);
      if (own === 0) continue;
      batches.push({ room, records: own, from: at });
      us += s.publishUs;
    }
    return { work: us / 1e6, batches };
  }

  function toBroker({ room, records, from }) {
    events.after(s.hopMs / 1000, () => {
      const others = [...room.at.keys()].filter((node) => node !== from);
      const takes = ((s.inUs + others.length * s.outUs) * brokerUs) / 1e6;
      const start = Math.max(events.now, broker.freeAt);
      count.batches += 1;
      broker.wait += start - events.now;
      broker.busy += takes;
      broker.freeAt = start + takes;
      events.after(broker.freeAt - events.now + s.hopMs / 1000, () => {
        count.batchesIn += others.length;
        count.recordsIn += others.length * records;
        for (const node of others) arrive(node, { room, records, isOwn: false });
      });
    });
  }
}

/** Rooms with the node of each member, and how many of them each node has. */
function placed(s, nodes, random) {
  return roomsOf(s).flatMap(({ members: size, count }) =>
    Array.from({ length: Math.round(count) }, () => {
      const members = Array.from({ length: size }, () => Math.floor(random() * nodes));
      const at = new Map();
      for (const node of members) at.set(node, (at.get(node) ?? 0) + 1);
      return { members, at };
    }),
  );
}
