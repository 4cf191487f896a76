import type { TypeEntry } from '../core/batch/type-entry.js';
import type { Frame } from './frame.js';
import type { Member } from './member.js';

/** A time in the room that is over, in arrival numbers: what was published in it is still for its member. */
interface Stay {
  readonly after: number;
  readonly until: number;
}

export class Room {
  readonly name: string;
  /** The room is a type of event in the engine: its queue, its rate, its place in a batch. */
  entry!: TypeEntry;
  /** Members, and the arrival number after which frames are for them. */
  readonly members = new Map<Member, number>();
  /** Who left while frames of the room were queued. */
  readonly leavers = new Map<Member, Stay[]>();
  /** Frames that were published and have not reached {@link add} yet. */
  queued = 0;
  /** The room's frames in the batch that is leaving. */
  frames: Frame[] = [];
  /** Lowest arrival number among `frames`, and whether any of them leaves somebody out. */
  firstSeq = 0;
  excepts = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Takes a member out; what is queued up to the arrival number `until` is still for it. */
  remove(member: Member, until: number): void {
    const after = this.members.get(member)!;
    this.members.delete(member);
    if (this.queued === 0 || !member.isOpen) return;
    const stays = this.leavers.get(member);
    if (stays === undefined) this.leavers.set(member, [{ after, until }]);
    else stays.push({ after, until });
  }

  /** Notes a frame of the batch that is leaving. */
  add(frame: Frame): void {
    this.queued--;
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
    const after = this.members.get(member) ?? Number.POSITIVE_INFINITY;
    const stays = this.leavers.get(member) ?? [];
    return this.frames.filter(
      ({ seq, except }) =>
        except !== member &&
        (seq > after || stays.some((stay) => seq > stay.after && seq <= stay.until)),
    );
  }

  /** The batch has left. */
  sent(): void {
    this.frames = [];
    if (this.queued === 0) this.leavers.clear();
  }
}
