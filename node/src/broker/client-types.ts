/**
 * The types of the client, in one place: who uses no broker need not have its packages, and what stands in for them then is
 * `any`. All other files take them from here, for the compiler of a user reads the declarations.
 */
// biome-ignore-start lint/suspicious/noTsIgnore: errors only where the packages are missing
/** @ts-ignore */
export type {
  JetStreamClient,
  JetStreamManager,
  StoredMsg,
  StreamConfig,
  StreamInfo,
} from '@nats-io/jetstream';
/** @ts-ignore */
export type { Msg, MsgHdrs, NatsConnection, Subscription } from '@nats-io/transport-node';
// biome-ignore-end lint/suspicious/noTsIgnore: as above
