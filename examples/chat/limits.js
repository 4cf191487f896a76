/**
 * Every numeric bound of the chat, in one place. All of them are enforced by the server; the page learns the ones
 * that concern a user from the `hello` frame.
 */
export const limits = Object.freeze({
  /** Characters of a nickname. */
  nameLength: 24,
  /** Characters of a room name. */
  roomLength: 32,
  /** Characters (UTF-16 units) of one message. */
  textLength: 4_000,
  /** Characters of the `ref` that a client may attach to a command. */
  refLength: 64,
  /** Bytes of one WebSocket frame from a client; a longer one closes the connection with 1009. */
  frameBytes: 32 * 1024,
  /** Bytes of one uploaded file. */
  fileBytes: 10 * 1024 * 1024,
  /** Characters kept of an uploaded file's name. */
  fileNameLength: 120,
  /** Messages sent on join, and the most that one history request returns. */
  historyLength: 50,
  /** Rooms listed by GET /api/rooms, the fullest first. */
  listLength: 100,
  /** Rooms that one connection may be in. */
  roomsPerClient: 20,
  /** Rooms with members at one time. */
  openRooms: 10_000,
  /** Connections at one time. */
  clients: 10_000,
  /** Frames per second and client unless --flood-limit says otherwise; twice as many may come at once. */
  floodPerSecond: 20,
  /** Frames refused for flooding, without a calm second between, after which the connection is closed with 1008. */
  floodStrikes: 200,
  /** Time for which a kicked person stays out of the room. */
  kickMs: 60_000,
  /** Bytes waiting for one socket before that client counts as too slow and is closed with 1013. */
  pendingBytes: 1024 * 1024,
  /** Frames waiting to be written, of all sockets (batched arms); what does not fit makes the others leave at once. */
  pendingFrames: 65_536,
  /** Messages waiting for their transaction; one more is refused with `overloaded`. */
  pendingInserts: 20_000,
  /** Pages of history waiting to be read, and requests that share them (`adaptive`); one more is refused with `overloaded`. */
  pendingReads: 20_000,
  /** Pages of history read at the same time (`adaptive`): each waits for the slowest of them. */
  readBatch: 8,
  /** Messages written by one transaction in the batched arms. */
  insertBatch: 500,
  /** Audit events kept until the audit log is open (batched arms). */
  retainedEvents: 10_000,
  /** Bytes that the embedded database may grow to. */
  databaseBytes: 4 * 1024 * 1024 * 1024,
  /** Time for which an operation waits for a locked or unreachable database. */
  storageTimeoutMs: 2_000,
  /** Between two attempts to reach a database that is down. */
  storageProbeMs: 500,
  /** Between two heartbeats; a client that missed one is disconnected at the next. */
  heartbeatMs: 30_000,
  /** Between two signs of life to other servers; the people of one that was silent for three of them are gone. */
  serverHeartbeatMs: 2_000,
  /** Time for which a graceful stop waits for commits and for clients to say goodbye. */
  stopMs: 5_000,
});
