import type { WireRecord } from '../../broker/wire.js';
import type { PriorityClass } from '../../core/intake/priority.js';
import type { Stored } from './publisher.js';

/** A task of a client, until it is stored and, where somebody waits for it, answered. */
export interface Call {
  readonly id: string;
  /** The user has chosen its id: it is a message of its own. */
  readonly hasOwnId: boolean;
  readonly name: string;
  readonly priority: PriorityClass;
  readonly record: WireRecord;
  readonly deadlineMs: number;
  /** The number of its message, once it has one. */
  message: number;
  state: 'waiting' | 'sent' | 'stored' | 'gone';
  /** The broker has it. */
  stored(stored: Stored): void;
  reject(error: unknown): void;
}
