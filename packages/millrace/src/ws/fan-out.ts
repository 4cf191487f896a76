/** The sink of rooms: turns a batch of frames for many rooms into one write for each socket. */

import type { Batch, Engine, Sink } from '../engine/engine.js';
import type { BatchEvent } from '../engine/queue.js';
import { type Frame, Joined } from './frame.js';
import type { Room } from './member.js';
import { Member } from './member.js';
import { Volley } from './volley.js';

/** Frames of members for whom one room's bytes are not the whole answer: several rooms, or not all frames of one. */
type Mixed = Map<Member, Frame[]>;

export class FanOut implements Sink<Frame> {
  engine!: Engine<Frame>;
  /** Called when a batch has been written. */
  readonly #onBatch: (batch: Batch<Frame>) => void;
  /** Called after the last batch of a closed queue. */
  readonly end: () => void;

  constructor(onBatch: (batch: Batch<Frame>) => void, onEnd: () => void) {
    this.#onBatch = onBatch;
    this.end = onEnd;
  }

  deliver(batch: Batch<Frame>): boolean {
    const rooms: Room[] = [];
    const mixed: Mixed = new Map();
    batch.events.forEach((event, place) => {
      const frame = event.data;
      frame.place = place;
      frame.tick = event.tick;
      const target = event.entry.type as Room | Member;
      if (target instanceof Member) {
        collect(mixed, target, [frame]);
        return;
      }
      if (target.frames.length === 0) rooms.push(target);
      target.add(frame);
    });
    // Before any member is written to: one may have left here and still be in another of these rooms.
    for (const room of rooms) {
      for (const member of room.leavers.keys()) {
        if (!room.members.has(member)) collect(mixed, member, room.framesFor(member));
      }
    }
    const sending = new Sending();
    for (const room of rooms) this.#write(room, mixed, sending);
    for (const [member, frames] of mixed) {
      if (frames.length === 0) continue;
      sending.add(member, new Joined(frames.sort((a, b) => a.place - b.place)));
    }
    sending.end();
    this.engine.counters.delivered += batch.events.length;
    this.#forget(rooms, mixed);
    this.#onBatch(batch);
    return true;
  }

  #write(room: Room, mixed: Mixed, sending: Sending): void {
    // The same bytes for everybody who is in this room alone.
    const content = new Joined(room.frames);
    for (const [member, after] of room.members) {
      if (member.rooms.size === 1 && room.getsAll(after) && !mixed.has(member)) {
        sending.add(member, content);
      } else {
        collect(mixed, member, room.framesFor(member));
      }
    }
  }

  /** Ends the batch, and forgets what the engine kept only for what has left now. */
  #forget(rooms: readonly Room[], mixed: Mixed): void {
    const { queue } = this.engine;
    for (const room of rooms) {
      room.sent();
      if (room.members.size === 0) queue.forget(room);
    }
    for (const member of mixed.keys()) if (!member.isOpen) queue.forget(member);
  }

  discard(_event: BatchEvent<Frame>): void {}
}

/** One batch on its way out: natively, all of it together, where that is possible. */
class Sending {
  readonly #volley = Volley.take<Joined>();
  /** Members that must be written to through ws or their streams; that may run other code, so they come last. */
  readonly #rest: [Member, Joined][] = [];

  add(member: Member, content: Joined): void {
    const fd = this.#volley === null ? -1 : member.fdFor(content);
    if (fd < 0) this.#rest.push([member, content]);
    else this.#volley!.add(member, fd, content);
  }

  end(): void {
    this.#volley?.send();
    for (const [member, content] of this.#rest) member.write(content);
  }
}

function collect(mixed: Mixed, member: Member, frames: Frame[]): void {
  const collected = mixed.get(member);
  if (collected === undefined) mixed.set(member, frames);
  else for (const frame of frames) collected.push(frame);
}
