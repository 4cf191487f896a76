/**
 * WebSockets and socket.io: messages of one turn leave together.
 *
 * @module
 */
export type { BackendName } from './backend.js';
export type { FleetOptions, StreamLimits } from './fleet/options.js';
export type {
  OnPresence,
  Presence,
  PresenceChange,
  PresenceOptions,
  PresenceReason,
} from './fleet/presence/types.js';
export type { DurableStats, FleetStats } from './fleet/stats.js';
export type { Data } from './frame.js';
export {
  type Installation,
  type InstallOptions,
  type InstallStats,
  install,
} from './install.js';
export type { SlowInfo, SlowPolicy } from './member.js';
export type { PublishOptions, RoomsOptions } from './options.js';
export { Rooms, type RoomsStats } from './rooms.js';
export { millraceAdapter } from './socket-io/adapter.js';
export type { MillraceAdapter, MillraceAdapterOptions } from './socket-io/fleet/options.js';
export type { MillraceAdapterStats } from './socket-io/fleet/stats.js';
