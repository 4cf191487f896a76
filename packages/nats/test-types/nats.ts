// The types of @millrace/nats/events as a user sees them; none of them is of a package that the user may not have.
import { EventEmitter } from 'node:events';
import {
  type Bridge,
  type BridgeOptions,
  type BridgeStats,
  type BrokerOptions,
  bridge,
  type LinkState,
  type LinkStats,
} from '@millrace/nats/events';
import { BatchEmitter, type MillraceError } from 'millrace';

const broker: BrokerOptions = {
  servers: ['nats://one:4222', 'tls://two'],
  namespace: 'shop',
  user: 'me',
  password: 'mine',
  tls: { ca: 'ca.pem' },
  maxPending: 65_536,
  connectTimeout: 1000,
};
const options: BridgeOptions = {
  broker,
  events: ['order'],
  channel: 'orders',
  onLost: (error: MillraceError, name: string, args: unknown[]) => void [error.code, name, args],
};
const typed = new BatchEmitter<{ order: [id: number] }>();
const bridged: Bridge = bridge(typed, options);
bridge(new EventEmitter(), { broker: 'nats://127.0.0.1', events: ['a'] });
const ready: Promise<Bridge> = bridged.ready();
const stats: BridgeStats = bridged.stats();
const link: LinkStats = stats.link;
const state: LinkState = link.state;
const closed: Promise<void> = bridged.close();
void [ready, state, closed, link.unsent.away];

// @ts-expect-error events are named
bridge(typed, { broker });
// @ts-expect-error a broker is a URL or options
bridge(typed, { broker: 5, events: ['order'] });
// @ts-expect-error servers are needed
const lacking: BrokerOptions = { namespace: 'x' };
void lacking;
