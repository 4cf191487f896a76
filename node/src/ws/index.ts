export type { Data } from './frame.js';
export type { SlowInfo, SlowPolicy } from './member.js';
export { type PublishOptions, Rooms, type RoomsOptions, type RoomsStats } from './rooms.js';
