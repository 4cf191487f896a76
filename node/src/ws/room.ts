import type { TypeEntry } from '../core/batch/type-entry.js';
import type { Frame } from './frame.js';
import type { Member } from './member.js';

/** Somebody who left while frames of the room were queued: it still gets those that were published before. */
interface Leaver {
  readonly member: Member;
  readonly after: number;
  readonly until: number;
}

export class Room {
  readonly name: string;
  /** The room is a type of event in the engine: its queue, its rate, its place in a batch. */
  entry!: TypeEntry;
  /** Members, and the arrival number after which frames are for them. */
  readonly members = new Map<Member, number>();
  leavers: Leaver[] = [];
  /** The room's frames in the batch that is leaving. */
  frames: Frame[] = [];
  /** Lowest arrival number among `frames`, and whether any of them leaves somebody out. */
  firstSeq = 0;
  excepts = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Notes a frame of the batch that is leaving. */
  add(frame: Frame): void {
    if (this.frames.length === 0) {
      this.firstSeq = frame.seq;
      this.excepts = false;
    }
    this.frames.push(frame);
    this.firstSeq = Math.min(this.firstSeq, frame.seq);
    this.excepts ||= frame.except !== null;
  }

  /** Whether the member gets every frame of the batch that is leaving. */
  getsAll(after: number): boolean {
    return !this.excepts && after < this.firstSeq;
  }

  /** The frames of the batch that is leaving which are for this member. */
  framesFor(member: Member): Frame[] {
    const after = this.members.get(member);
    return this.frames.filter((frame) => {
      if (frame.except === member) return false;
      if (after !== undefined && frame.seq > after) return true;
      return this.leavers.some(
        (left) => left.member === member && frame.seq > left.after && frame.seq <= left.until,
      );
    });
  }
}
