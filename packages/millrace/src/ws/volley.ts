/**
 * Sends a turn's contents to many sockets, each content once, in one native call where the addon can, otherwise through the
 * stream of each socket.
 */
import { constants } from 'node:os';
import { refused } from '@millrace/base/options';
import type { FanOutBinding } from '../native/binding.js';
import { binding } from '../native/load.js';
import type { Content } from './content.js';

/** `js`: one write of its stream for each socket. `send`, `io_uring`: one native call for all. */
export type BackendName = 'js' | 'send' | 'io_uring';

/** Backends by the numbers of the C library. */
const flags: Readonly<Record<string, number>> = { auto: 0, send: 1, io_uring: 2 };

const what = 'the environment';

let opened: BackendName | null = null;

/**
 * Throws MILLRACE_E_INVALID_OPTION when MILLRACE_FANOUT asks for something that is not there. Called where an
 * application begins to use fan-out, so that nothing is lost by it.
 */
export function checkBackend(): void {
  const { setting } = setUp();
  // A probe can wait until something is sent.
  if (setting !== 'auto') backend();
}

function setUp(): { setting: string; flag: number } {
  const setting = process.env?.MILLRACE_FANOUT || 'auto';
  const flag = flags[setting];
  if (flag !== undefined) return { setting, flag };
  throw refused(what, 'MILLRACE_FANOUT', setting, 'auto, send, io_uring, or not set');
}

/** The back-end in use; the first call chooses it, by MILLRACE_FANOUT or a probe of a few milliseconds. */
export function backend(): BackendName {
  opened ??= open();
  return opened;
}

function open(): BackendName {
  const { setting, flag } = setUp();
  if (binding === null) return 'js';
  try {
    const name = binding.fanoutOpen(flag);
    // Without sends that do not block, the streams do just as well.
    return name === 'try_write' ? 'js' : name;
  } catch (error) {
    if (setting === 'auto') return 'js';
    const why = `auto or send on this system, which refuses it: ${(error as Error).message}`;
    throw refused(what, 'MILLRACE_FANOUT', setting, why, { cause: error });
  }
}

/** Returns the native backend; null where the streams send. */
function nativeBackend(): FanOutBinding | null {
  return backend() === 'js' ? null : binding;
}

/** Socket of a volley. */
export interface Receiver<C extends Content = Content> {
  /** Told how many bytes the socket took, or a negative code. Must not throw. */
  sent(result: number, content: C): void;
}

/** Bytes above which content gains nothing from a native call, and would have to be copied for it. */
export const maxContent = 256 * 1024;
const maxBytes = 1024 * 1024;
const groupFields = 4;
const tryAgain = -constants.errno.EAGAIN;

export class Volley<C extends Content = Content> {
  readonly #native: FanOutBinding;
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  #groups = new Int32Array(64 * groupFields);
  #fds = new Int32Array(256);
  #results = new Int32Array(256);
  #used = 0;
  #contents: C[] = [];
  #receivers: Receiver<C>[] = [];

  private constructor(native: FanOutBinding) {
    this.#native = native;
  }

  /** Returns a volley to use until `send()`; null where there are no native sends. */
  static take<C extends Content>(): Volley<C> | null {
    const native = nativeBackend();
    if (native === null) return null;
    return (spare.pop() as Volley<C> | undefined) ?? new Volley<C>(native);
  }

  /**
   * Adds a socket. Sockets with the same content in a row are a group, with which the system is quick.
   * `fd` is valid until the volley leaves: nothing else may run before, but this.
   */
  add(receiver: Receiver<C>, fd: number, content: C): void {
    const contents = this.#contents;
    if (contents.length === 0 || contents[contents.length - 1] !== content) this.#open(content);
    const receivers = this.#receivers;
    const at = receivers.push(receiver) - 1;
    if (at === this.#fds.length) this.#fds = grown(this.#fds);
    this.#fds[at] = fd;
    this.#groups[(this.#contents.length - 1) * groupFields + 3]!++;
  }

  #open(content: C): void {
    const end = this.#used + content.length;
    if (end > this.#bytes.length) {
      if (end <= maxBytes) {
        const bytes = Buffer.allocUnsafeSlow(
          Math.min(maxBytes, Math.max(end, this.#bytes.length * 2)),
        );
        this.#bytes.copy(bytes, 0, 0, this.#used);
        this.#bytes = bytes;
      } else {
        this.#cross();
      }
    }
    content.copyTo(this.#bytes, this.#used);
    const at = (this.#contents.push(content) - 1) * groupFields;
    if (at === this.#groups.length) this.#groups = grown(this.#groups);
    const groups = this.#groups;
    groups[at] = this.#used;
    groups[at + 1] = content.length;
    groups[at + 2] = this.#receivers.length;
    groups[at + 3] = 0;
    this.#used += content.length;
  }

  /** Sends, tells each receiver, and gives the volley back. */
  send(): void {
    this.#cross();
    if (spare.length < maxSpare) spare.push(this as unknown as Volley<Content>);
  }

  #cross(): void {
    const contents = this.#contents;
    const receivers = this.#receivers;
    if (receivers.length === 0) return;
    if (this.#results.length < receivers.length) this.#results = new Int32Array(this.#fds.length);
    const results = this.#results;
    try {
      this.#native.fanoutSend(this.#bytes, this.#groups, contents.length, this.#fds, results);
    } catch {
      // Out of memory; nothing was sent. The streams may still manage.
      results.fill(tryAgain, 0, receivers.length);
    }
    const groups = this.#groups;
    for (let group = 0; group < contents.length; group++) {
      const content = contents[group]!;
      const first = groups[group * groupFields + 2]!;
      const end = first + groups[group * groupFields + 3]!;
      for (let i = first; i < end; i++) receivers[i]!.sent(results[i]!, content);
    }
    this.#used = 0;
    this.#contents = [];
    this.#receivers = [];
  }
}

/** Volleys that nobody is using. A receiver that is told of one volley may begin another. */
const spare: Volley<Content>[] = [];
const maxSpare = 2;

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}
