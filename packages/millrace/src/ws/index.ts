/**
 * WebSockets, event streams and socket.io: messages of one turn leave together.
 *
 * @module ws
 */
export type {
  Across,
  AcrossStats,
  Message,
  Receipt,
  RoomsHere,
  RoomsLink,
  StreamFields,
} from './across.js';
export type { Data } from './frame.js';
export {
  type Installation,
  type InstallOptions,
  type InstallStats,
  install,
} from './install.js';
export type { Connection, SlowInfo, SlowPolicy, StreamResponse } from './member.js';
export type { PublishOptions, RoomsOptions } from './options.js';
export type {
  OnPresence,
  Presence,
  PresenceChange,
  PresenceEntry,
  PresenceList,
  PresenceLog,
  PresenceOptions,
  PresenceReason,
} from './presence.js';
export { Rooms, type RoomsStats } from './rooms.js';
export { type MillraceAdapterOptions, millraceAdapter } from './socket-io/adapter.js';
export type { BackendName } from './volley.js';
