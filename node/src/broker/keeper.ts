/** Keeps a connection: tries until there is one, and makes another when the client gives it up. */
import { clearTimeout, setTimeout, sleep } from '../core/timers.cjs';
import { MillraceError } from '../errors.js';
import type { NatsConnection } from './client-types.js';
import { backOffMs, connect } from './connect.js';
import { describe, failure, oldest, tooOld, where } from './failure.js';
import type { BrokerSettings } from './options.js';

/** What a keeper reports. */
interface KeeperEvents {
  /** There is a connection: a new one, or the same again. */
  up(connection: NatsConnection): void;
  /** It is away, and the client tries to bring it back. */
  away(error: MillraceError): void;
  /** There is none, and another attempt follows later. */
  failed(error: MillraceError): void;
  /** The client has closed it for good; whatever waits for it waits in vain. */
  over(error: MillraceError): void;
  /** The broker said an error: it refuses us, or one of the things that we do. */
  said(error: Error): void;
}

/** So that a broker that does not answer does not hold up a close. */
const closeMs = 2000;

export class Keeper {
  readonly #settings: BrokerSettings;
  readonly #name: string;
  readonly #events: KeeperEvents;
  #connection: NatsConnection | null = null;
  #attempts = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(settings: BrokerSettings, name: string, events: KeeperEvents) {
    this.#settings = settings;
    this.#name = name;
    this.#events = events;
    void this.#connect();
  }

  /** The present one, which may be away for the moment. */
  get connection(): NatsConnection | null {
    return this.#connection;
  }

  /** Sends what is under way on a connection that is up, for 2 s at most, and ends it. */
  async close(isUp: boolean): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const connection = this.#connection;
    if (connection === null || connection.isClosed()) return;
    if (isUp)
      await Promise.race([connection.flush().catch(() => {}), sleep(closeMs, { ref: false })]);
    await connection.close();
  }

  async #connect(): Promise<void> {
    let connection: NatsConnection;
    try {
      connection = await connect(this.#settings, this.#name);
    } catch (error) {
      this.#failed(error instanceof MillraceError ? error : describe(error, this.#settings));
      return;
    }
    const version = connection.info?.version ?? '0.0.0';
    if (this.#isClosed || isOld(version)) {
      await connection.close();
      this.#failed(tooOld(version, this.#settings));
      return;
    }
    this.#connection = connection;
    this.#attempts = 0;
    void this.#watch(connection);
    this.#events.up(connection);
  }

  #failed(error: MillraceError): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#connect(), backOffMs(++this.#attempts));
    this.#events.failed(error);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    const at = where(this.#settings);
    for await (const status of connection.status()) {
      if (this.#isClosed) return;
      if (status.type === 'disconnect') this.#events.away(failure(`the broker at ${at} is away`));
      else if (status.type === 'error') this.#events.said(status.error);
      else if (status.type === 'reconnect') this.#events.up(connection);
    }
    if (this.#isClosed) return;
    this.#connection = null;
    const error = (await connection.closed()) ?? undefined;
    this.#events.over(failure(`the connection to the broker at ${at} ended`, error));
    if (!this.#isClosed) void this.#connect();
  }
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldest.major || (major === oldest.major && minor < oldest.minor);
}
