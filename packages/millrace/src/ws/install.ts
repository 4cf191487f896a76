/**
 * Gathering for applications as they are. Two methods of the object in which ws encodes frames are replaced; `send`,
 * `ping` and `close` still check, throw and call back by the code of ws. Each socket below gets a guard before its
 * `write`, `end` and `destroy` when it first sends.
 */

import { parse } from '@millrace/base/options';
import { type Patch, patchMethod } from '@millrace/base/patch';
import { isUint8Array } from '@millrace/base/realm';
import * as is from '@millrace/base/schema';
import { announce } from '@millrace/base/sources';
import {
  defaultMaxPendingBytes,
  Gatherer,
  type GathererCounters,
  Hold,
  inContext,
  knownOutbox,
  outboxOf,
} from './gatherer.js';
import type { SharedFrame } from './sequence.js';
import { maxCopied, type TurnFrames } from './turn-frames.js';
import { type BackendName, backend, checkBackend } from './volley.js';
import type { WriteCallback } from './wire.js';
import {
  checkClass,
  type FrameParts,
  isAtRest,
  type Sender,
  type SenderClass,
  type SendOptions,
  type WebSocketClass,
} from './ws-class.js';

/** Options of `install()`. */
export interface InstallOptions {
  /**
   * Longest time that frames are held beyond the end of their turn, in ms: 0 to 60,000, default 0. Frames are held only while
   * the loop is busy and more frames for the same sockets are expected.
   */
  maxDelay?: number;
  /** Bytes that one socket may send in a turn before they leave at once: 1 to 2^53 - 1, default 64 KiB. */
  maxPendingBytes?: number;
}

/** Counters that `Installation.stats()` returns. */
export interface InstallStats extends GathererCounters {
  /** Frames encoded: `frames - encoded` encodings were saved. */
  encoded: number;
  /** Backend that sends the frames. */
  backend: BackendName;
}

/** Handle that `install()` returns. */
export interface Installation {
  /** Sends the pending frames, and restores the class's own methods. Idempotent. */
  uninstall(): void;
  /** A snapshot. */
  stats(): InstallStats;
}

export const installSchema = is.schema({
  maxDelay: is.ms(0, 60_000, 0),
  maxPendingBytes: is.bytes(1, Number.MAX_SAFE_INTEGER, defaultMaxPendingBytes),
} satisfies is.FieldsOf<InstallOptions>);

/** An installation, and whether millrace/auto has made it, not the application. */
interface Known {
  readonly installation: Installation;
  readonly isAutomatic: boolean;
}

const installed = new WeakMap<SenderClass, Known>();
/** Installations that have not been taken back. */
const inForce = new WeakSet<Installation>();

/**
 * Makes all sockets of this class send the frames of a loop turn together at its end, including existing sockets and derived
 * classes: each content is encoded once, and sockets that send the same leave in one native call. Nothing changes for the
 * application: order, callbacks, errors and `bufferedAmount` stay the same, except that `bufferedAmount` does not include the
 * frames of the running turn.
 *
 * Only servers' sockets without permessage-deflate gain; others stay as they are. Pending frames are sent when the process
 * exits, and lost when it is killed.
 *
 * A class that is installed already keeps its options, and its {@link Installation} is returned. Throws
 * MILLRACE_E_INVALID_ARGUMENT for anything but the `WebSocket` of the ws package, version 6.2.1 to 8, MILLRACE_E_INVALID_OPTION for
 * an unknown option or a bad value. Costs one `setImmediate` for each turn in which something is sent.
 */
export function install(WebSocket: WebSocketClass, options: InstallOptions = {}): Installation {
  const settings = check(options);
  const SenderOfClass = checkClass(WebSocket);
  const known = installed.get(SenderOfClass);
  if (known?.isAutomatic === false) return known.installation;
  known?.installation.uninstall();
  return gatherTurns(SenderOfClass, settings, false);
}

/** The installation of a class; undefined for one that has none. */
export const installationOf = (SenderOfClass: SenderClass): Known | undefined =>
  installed.get(SenderOfClass);

/** Reports whether it still acts: it has not been taken back, and the application has not called `install()` since. */
export const isInForce = (installation: Installation): boolean => inForce.has(installation);

/** Throws as {@link install} does. */
export function check(options: InstallOptions): Required<InstallOptions> {
  const parsed = parse('install()', options, installSchema);
  checkBackend();
  return parsed;
}

/** Gathers the frames of each turn of a class that has no installation. */
export function gatherTurns(
  SenderOfClass: SenderClass,
  { maxPendingBytes, maxDelay }: Required<InstallOptions>,
  isAutomatic: boolean,
): Installation {
  const gatherer = new Gatherer(maxPendingBytes, maxDelay > 0 ? new Hold(maxDelay) : null);
  const patches = patchMethods(SenderOfClass.prototype, gatherer);
  return begin(SenderOfClass, gatherer, patches, isAutomatic);
}

/** The installation of a class whose patches are in force, and gather with `gatherer`. */
export function begin(
  SenderOfClass: SenderClass,
  gatherer: Gatherer,
  patches: readonly Pick<Patch, 'undo'>[],
  isAutomatic: boolean,
): Installation {
  const installation = {
    uninstall() {
      if (!inForce.delete(installation)) return;
      installed.delete(SenderOfClass);
      for (const patch of patches) patch.undo();
      gatherer.close();
    },
    stats() {
      const { counters, frames, passed } = gatherer;
      return {
        ...counters,
        frames: counters.frames + passed,
        writes: counters.writes + passed,
        encoded: frames.encoded + passed,
        backend: backend(),
      };
    },
  };
  installed.set(SenderOfClass, { installation, isAutomatic });
  inForce.add(installation);
  announce('install', installation, (each) => each.stats());
  return installation;
}

function patchMethods(senders: Sender, gatherer: Gatherer): Patch[] {
  const { send, sendFrame } = senders;

  function gatheringSend(this: Sender, data: unknown, options: SendOptions, callback: unknown) {
    if (isWhole(options) && !gatherer.closed && isAtRest(this)) {
      const outbox = outboxOf(this, gatherer);
      const frame = outbox === null ? null : messageFrame(gatherer.frames, data, options);
      if (frame !== null && gatherer.add(outbox!, frame, onWritten(callback))) return;
    }
    // It ends up in the method below, which keeps the order.
    send.call(this, data, options, callback);
  }

  function gatheringSendFrame(this: Sender, parts: FrameParts, callback: unknown) {
    if (!gatherer.closed && isMessage(parts)) {
      const outbox = outboxOf(this, gatherer);
      const frame = outbox === null ? null : gatherer.frames.joined(parts);
      if (frame !== null && gatherer.add(outbox!, frame, onWritten(callback))) return;
    }
    knownOutbox(this)?.release();
    sendFrame.call(this, parts, callback as WriteCallback);
  }

  return [
    patchMethod(senders, 'send', () => gatheringSend),
    patchMethod(senders, 'sendFrame', () => gatheringSendFrame),
  ];
}

/** A message in one frame, neither masked nor compressed. */
export const isWhole = ({ fin, mask, compress }: SendOptions) => fin === true && !mask && !compress;

/** Reports whether the message can be encoded here; otherwise only ws can. */
export const isContent = (data: unknown, { binary }: SendOptions): data is string | Uint8Array =>
  typeof data === 'string' ? !binary : isUint8Array(data) && data.length <= maxCopied;

/** The frame of a message; null for what only ws can encode. */
export function messageFrame(
  frames: TurnFrames,
  data: unknown,
  options: SendOptions,
): SharedFrame | null {
  if (!isContent(data, options)) return null;
  return typeof data === 'string' ? frames.text(data) : frames.copy(data, options.binary === true);
}

/** A whole message, neither compressed nor masked; engine.io itself encodes those that it broadcasts. */
export function isMessage(parts: FrameParts): boolean {
  const [header, payload] = parts;
  return (
    isUint8Array(header) &&
    (header[0] === 0x81 || header[0] === 0x82) &&
    header[1]! < 0x80 &&
    (typeof payload === 'string' || (payload?.length ?? 0) <= maxCopied)
  );
}

function onWritten(callback: unknown): WriteCallback | undefined {
  return typeof callback === 'function' ? inContext(callback as WriteCallback) : undefined;
}
