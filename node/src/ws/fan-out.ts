/** The sink of rooms: turns a batch of frames for many rooms into one write for each socket. */
import type { BatchEvent } from '../core/batch/event.js';
import type { Batch, Sink } from '../core/engine.js';
import { type Frame, join } from './frame.js';
import { Member } from './member.js';
import type { Room } from './room.js';

export class FanOut implements Sink<Frame> {
  /** Called with each room whose frames have left. */
  readonly #onSent: (room: Room) => void;

  constructor(onSent: (room: Room) => void) {
    this.#onSent = onSent;
  }

  deliver(batch: Batch<Frame>): boolean {
    const rooms: Room[] = [];
    // Members for whom the room's bytes are not the whole answer: several rooms, or not all frames of one.
    const mixed = new Set<Member>();
    batch.events.forEach((event, place) => {
      const frame = event.data;
      frame.place = place;
      const target = event.entry.type as Room | Member;
      if (target instanceof Member) {
        target.own.push(frame);
        mixed.add(target);
        return;
      }
      if (target.frames.length === 0) rooms.push(target);
      target.add(frame);
    });
    for (const room of rooms) {
      // The same bytes for everybody who is in this room alone: joined once, written to each.
      let bytes: Buffer | null = null;
      for (const [member, after] of room.members) {
        if (member.rooms.size === 1 && member.own.length === 0 && room.getsAll(after)) {
          bytes ??= join(room.frames);
          member.write(room.frames, bytes);
        } else {
          mixed.add(member);
        }
      }
      for (const { member } of room.leavers) mixed.add(member);
    }
    for (const member of mixed) this.#writeMixed(member, rooms);
    for (const room of rooms) {
      room.frames = [];
      if (room.entry.count === 0) room.leavers = [];
      this.#onSent(room);
    }
    return true;
  }

  #writeMixed(member: Member, rooms: readonly Room[]): void {
    const frames = member.own.splice(0);
    for (const room of member.rooms) frames.push(...room.framesFor(member));
    // Rooms that it left while their frames were queued.
    for (const room of rooms) {
      if (room.leavers.length > 0 && !member.rooms.has(room))
        frames.push(...room.framesFor(member));
    }
    if (frames.length === 0) return;
    frames.sort((a, b) => a.place - b.place);
    member.write(frames);
  }

  discard(_event: BatchEvent<Frame>): void {}
}
