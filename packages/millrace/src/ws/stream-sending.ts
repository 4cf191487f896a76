/** Messages and comments on their way to event streams: natively, all of them together, where that is possible. */
import type { Chunk } from './backlog.js';
import { chunkedComment, comment, type Events, TurnEvents } from './event-stream.js';
import type { Joined } from './frame.js';
import type { StreamMember } from './stream-member.js';
import { Volley } from './volley.js';

/** Returns the streams that have to be written to, and what they get. That may run other code, so it comes last. */
export function sendToStreams(
  streams: readonly (readonly [StreamMember, Joined])[],
): [StreamMember, Joined<Chunk>][] {
  const volley = Volley.take<Events>();
  const rest: [StreamMember, Joined<Chunk>][] = [];
  let last: Joined | null = null;
  let turn!: TurnEvents;
  for (const [stream, content] of streams) {
    // Members of one room follow each other.
    if (content !== last) turn = new TurnEvents(content);
    last = content;
    const events = turn.on(stream);
    const fd = volley === null ? -1 : stream.fdFor(events);
    if (fd < 0) rest.push([stream, turn.events]);
    else volley!.add(stream, fd, events);
  }
  volley?.send();
  return rest;
}

export function sendComments(streams: Iterable<StreamMember>): void {
  const volley = Volley.take<Events>();
  const rest: StreamMember[] = [];
  for (const stream of streams) {
    const events = stream.isChunked ? chunkedComment : comment;
    const fd = volley === null ? -1 : stream.fdFor(events);
    if (fd < 0) rest.push(stream);
    else volley!.add(stream, fd, events);
  }
  volley?.send();
  for (const stream of rest) stream.sendComment(comment);
}
