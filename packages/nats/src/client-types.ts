/**
 * The types of the client, in one place: users without a broker need not have its packages, and then `any` stands in for
 * them. All other files take them from here, since the compiler of a user reads the declarations.
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
