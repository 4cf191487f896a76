/**
 * Gathering for `millrace/auto`, which an application can tell from plain ws by time alone. While there is no demand, ws writes all
 * frames itself. Then the first frame of a turn on a socket leaves within `send`: by ws where the socket sent a single one in its last
 * turn and no other socket has just been sent the same, otherwise in the encoding that all sockets share. Further frames wait for the end
 * of the turn only if the socket sent several in its last turn, and only while the application cannot notice: they leave when the
 * callback of one of them is due, and before the application reads how much was written.
 *
 * A broadcast of socket.io is a loop over sockets within one call. The first frames of such sockets wait for its end, and leave
 * before the call returns.
 */
import type { Socket } from 'node:net';
import { type Patch, patchMethod, patchReads } from '@millrace/base/patch';
import { nextTick } from '@millrace/base/timers';
import { isExiting } from '../net/turn.js';
import { Demand } from './demand.js';
import { payloadOf } from './frame.js';
import { Gatherer, inContext, knownOutbox, type Outbox, outboxOf } from './gatherer.js';
import {
  begin,
  check,
  gatherTurns,
  type Installation,
  type InstallOptions,
  installationOf,
  isContent,
  isMessage,
  isWhole,
  messageFrame,
} from './install.js';
import type { SharedFrame } from './sequence.js';
import type { Wire, WriteCallback } from './wire.js';
import {
  baseClass,
  checkClass,
  type FrameParts,
  isAtRest,
  type Sender,
  type SendOptions,
  type WebSocket,
  type WebSocketClass,
} from './ws-class.js';

/**
 * `install()` for millrace/auto. Without `maxDelay`, an application can tell it from plain ws by time alone. Returns null for a class
 * that the application has installed by itself; if it does so later, that ends the installation made here. `onShared` is called once,
 * when frames that others have encoded, as socket.io does, are sent to several sockets.
 */
/** Sockets whose frames leave before a broadcast goes on, so that the first of a large room need not wait for the last. */
const maxHeld = 256;

/** Broadcasts that are running, one within the other. */
let broadcasts = 0;
/** Gatherers whose frames wait for the end of one. */
const holding = new Set<TransparentGatherer>();

/** Begins a loop that writes to one socket after the other, within one call of the application. */
export function beginBroadcast(): void {
  broadcasts++;
}

/** Ends the innermost loop. The frames that wait leave in native calls, for all sockets together. */
export function endBroadcast(): void {
  broadcasts--;
  for (const gatherer of holding) gatherer.flush();
  holding.clear();
}

export function installAutomatically(
  WebSocket: WebSocketClass,
  options: InstallOptions,
  onShared: () => void = () => {},
): Installation | null {
  const settings = check(options);
  const SenderOfClass = checkClass(WebSocket);
  const known = installationOf(SenderOfClass);
  if (known !== undefined) return known.isAutomatic ? known.installation : null;
  if (settings.maxDelay > 0) return gatherTurns(SenderOfClass, settings, true);
  const gatherer = new TransparentGatherer(settings.maxPendingBytes);
  const patches = patchTransparently(SenderOfClass.prototype, gatherer, onShared);
  patches.push(patchReads(baseClass(WebSocket).prototype, 'bufferedAmount', observe));
  return begin(SenderOfClass, gatherer, patches, true);
}

export { isInForce } from './install.js';

function patchTransparently(
  senders: Sender,
  gatherer: TransparentGatherer,
  onShared: () => void,
): Pick<Patch, 'undo'>[] {
  const { send, sendFrame } = senders;
  const { demand, frames } = gatherer;
  let hasShared = false;
  /** ws writes the frame of the `send` that is running. */
  let isPassing = false;

  function pass(sender: Sender, data: unknown, options: SendOptions, callback: unknown): void {
    gatherer.passed++;
    isPassing = true;
    try {
      send.call(sender, data, options, callback);
    } finally {
      isPassing = false;
    }
  }

  /** The outbox of a socket whose stream is idle. Null where only ws may write: the order and the callbacks are those of its stream. */
  function idleOutbox(sender: Sender, callback: unknown): Outbox | null {
    if (gatherer.closed || !(callback === undefined || typeof callback === 'function')) return null;
    const outbox = outboxOf(sender, gatherer);
    return outbox?.wire.isIdle === true ? outbox : null;
  }

  function transparentSend(this: Sender, data: unknown, options: SendOptions, callback: unknown) {
    if (isWhole(options)) {
      if (!demand.isThere && !demand.beginsWith(this, data as object | string)) {
        pass(this, data, options, callback);
        return;
      }
      const outbox = isAtRest(this) ? idleOutbox(this, callback) : null;
      if (outbox !== null && isContent(data, options)) {
        if (gatherer.isSingle(outbox, data)) {
          pass(this, data, options, callback);
          return;
        }
        const frame = messageFrame(frames, data, options);
        if (frame !== null && gatherer.send(outbox, frame, callback as WriteCallback)) return;
      }
    }
    send.call(this, data, options, callback);
  }

  /** Reports whether a frame that is encoded already has been sent here; otherwise ws has to. */
  function isSent(sender: Sender, parts: FrameParts, callback: unknown): boolean {
    // Nothing is saved by the same content for others: it is encoded once as it is.
    if (!demand.isThere && !demand.beginsWith(sender, null)) {
      gatherer.passed++;
      return false;
    }
    const outbox = idleOutbox(sender, callback);
    if (outbox === null) return false;
    if (gatherer.isSingle(outbox, null)) {
      gatherer.passed++;
      return false;
    }
    if (!hasShared) {
      hasShared = true;
      onShared();
    }
    return gatherer.send(outbox, frames.joined(parts), callback as WriteCallback);
  }

  function transparentSendFrame(this: Sender, parts: FrameParts, callback: unknown) {
    if (isPassing) {
      // Nothing waits before it.
      isPassing = false;
    } else {
      if (isMessage(parts) && isSent(this, parts, callback)) return;
      knownOutbox(this)?.release();
    }
    sendFrame.call(this, parts, callback as WriteCallback);
  }

  return [
    patchMethod(senders, 'send', () => transparentSend),
    patchMethod(senders, 'sendFrame', () => transparentSendFrame),
  ];
}

/** Called before `bufferedAmount` is read: the stream must hold what it would without us. */
function observe(ws: WebSocket): void {
  const { _sender } = ws as unknown as { readonly _sender?: Sender | null };
  if (_sender) knownOutbox(_sender)?.observed();
}

class TransparentGatherer extends Gatherer {
  readonly demand = new Demand(() => this.join());
  /** Number of the loop turn, counting turns in which something was sent. */
  #turn = 1;

  constructor(maxPendingBytes: number) {
    super(maxPendingBytes, null);
  }

  /**
   * Reports whether ws is to write this frame: the only one of its turn on this socket, and of this content, as far as
   * anybody can tell. Null for a content that is encoded already.
   */
  isSingle(outbox: Outbox, content: object | string | null): boolean {
    if (outbox.turn === this.#turn) return false;
    this.#begin(outbox);
    if (outbox.gathers || (content !== null && this.frames.isRepeated(content))) return false;
    outbox.turnFrames = 1;
    return true;
  }

  /** Sends a frame that is not single. Returns false, and sends nothing, where ws has to: something waits in the stream before it. */
  send(outbox: Outbox, frame: SharedFrame, callback: WriteCallback | undefined): boolean {
    const isFirst = outbox.turnFrames === 0;
    outbox.turnFrames++;
    const waits = outbox.gathers && (!isFirst || broadcasts > 0);
    if (waits && this.#gather(outbox, frame, callback)) {
      if (broadcasts > 0) this.#hold();
      return true;
    }
    outbox.release();
    if (!outbox.wire.isIdle) return false;
    this.counters.frames++;
    this.counters.writes++;
    // A new function per frame: a stream calls equal ones in one tick, and ws passes a new one per frame as well.
    const written: WriteCallback | undefined = callback && ((error) => callback(error));
    if (fills(outbox.wire.socket, frame)) writeInParts(outbox.wire, frame, written);
    else this.write(outbox.wire, frame.data, written);
    this.limit();
    return true;
  }

  #begin(outbox: Outbox): void {
    outbox.gathers = outbox.turnFrames > 1;
    outbox.turn = this.#turn;
    outbox.turnFrames = 0;
    this.join();
  }

  #gather(outbox: Outbox, frame: SharedFrame, callback: WriteCallback | undefined): boolean {
    // At the high-water mark the stream would count as full. It does not when each frame is written by itself.
    const most = outbox.wire.socket.writableHighWaterMark - frame.data.length;
    if (isExiting() || outbox.sequence.length >= most) return false;
    if (callback === undefined) return this.add(outbox, frame, undefined);
    const receipt = new Receipt(callback);
    if (!this.add(outbox, frame, receipt.written)) return false;
    nextTick(callBack, this, receipt);
    return true;
  }

  #hold(): void {
    if (this.waiting < maxHeld) holding.add(this);
    else this.flush();
  }

  override endTurn(): void {
    super.endTurn();
    this.frames.clear();
    this.#turn++;
    const { frames, writes } = this.counters;
    this.demand.turnEnds(2 * frames - writes - this.frames.encoded);
  }

  override over(callbacks: readonly WriteCallback[]): void {
    for (const written of callbacks) written(null);
  }

  override write(wire: Wire, bytes: Buffer, callback: WriteCallback | undefined): void {
    // If `write` of the socket has been replaced since, that was after these frames were sent.
    wire.write(bytes, callback);
  }

  override wrote(socket: Socket, callbacks: readonly WriteCallback[]): void {
    // If the kernel has taken or refused all bytes at once, the callbacks need not wait for the stream.
    const { errored } = socket;
    if (errored !== null) for (const written of callbacks) written(errored);
    else if (socket.writableLength === 0) this.over(callbacks);
  }

  override observed(outbox: Outbox): void {
    // An application that looks once looks before each frame: the next frames do not wait.
    outbox.gathers = false;
    outbox.release();
  }
}

/** Reports whether the stream counts as full while it has the frame. */
const fills = ({ writableHighWaterMark }: Socket, { data }: SharedFrame) =>
  data.length >= writableHighWaterMark;

/** Header and payload as ws writes them. A stream emits 'drain' after them, but not after one buffer that the kernel takes at once. */
function writeInParts(wire: Wire, { data }: SharedFrame, callback: WriteCallback | undefined) {
  const payload = payloadOf(data);
  wire.socket.cork();
  wire.write(data.subarray(0, data.length - payload.length));
  wire.write(payload, callback);
  wire.socket.uncork();
}

/** Callback of a gathered frame. Called in the tick in which a stream would call it, or later if the frame is not written by then. */
class Receipt {
  readonly #callback: WriteCallback;
  isWritten = false;
  #isDue = false;
  #error: Error | null | undefined;

  constructor(callback: WriteCallback) {
    this.#callback = inContext(callback);
  }

  readonly written: WriteCallback = (error) => {
    if (this.isWritten) return;
    this.isWritten = true;
    this.#error = error;
    if (this.#isDue) this.#callback(error);
  };

  due(): void {
    this.#isDue = true;
    if (this.isWritten) this.#callback(this.#error);
  }
}

function callBack(gatherer: TransparentGatherer, receipt: Receipt): void {
  // All sockets: what they were given in this tick is mostly the same.
  if (!receipt.isWritten) gatherer.flush();
  receipt.due();
}
