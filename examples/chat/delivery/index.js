/**
 * The one interface between the chat and the way its events travel. Both arms have:
 *
 *   policy                                  'direct' | 'fixed' | 'adaptive'
 *   maxDelay                                longest hold of a batch, ms; null: none, or the policy's own default
 *   join(person, room), leave(ws, room)
 *   rename(person)                          the person has another name now
 *   presence(person, room, on)              tells the others in the room
 *   names(room) → string[] | null           of all in it on all servers; null: this server is the only one
 *   publish(room, frame, {priority, except}) → number of members addressed
 *   send(ws, frame, priority)               one socket, in order with what its rooms publish
 *   end(ws, code, reason)                   closes the socket; what was sent to it goes first
 *   save(row) → Promise<id>                 resolves when the row's transaction has committed
 *   history({room, before, limit}) → Promise<string>   a page as the body of a response; `adaptive` shares its query
 *   readFile(path) → Promise<Buffer>        as in node:fs/promises
 *   digest(path) → Promise<string>          SHA-256 of a file in hex; undefined where nobody asked for digests
 *   bus                                     {emit(type, event), on(type, listener)} for events inside the server
 *   settled() → Promise                     when everything saved so far has committed or failed
 *   flush()                                 delivers what is queued now
 *   close() → Promise                       after flush: lets go; rows that still wait are refused
 *   stats() → {frames, writes, batches, items, unhandled, slow, queues}
 *
 * `frame` is a string of JSON. Once limits.pendingFrames of them wait, LOW ones are dropped and onDropped is told; the
 * others never are. A socket that does not read is closed with 1013 once limits.pendingBytes wait for it.
 */
export async function createDelivery(options) {
  // Each arm loads only what it uses: the direct arm runs without millrace.
  if (options.policy === 'direct') {
    const { createDirect } = await import('./direct.js');
    return createDirect(options);
  }
  const { createBatched } = await import('./batched.js');
  return createBatched(options);
}
