import { EventEmitter } from 'node:events';
import { endChild, startChild } from './child.js';

/** The load generator's process. Emits 'slot' (slot), of the present load only, and 'idle' when it has stopped by itself. */
export class Generator extends EventEmitter {
  #child = startChild('../load/process.js');
  #id = 0;
  #order;

  constructor() {
    super();
    this.#child.on('message', ({ id, slot, idle }) => {
      if (id === this.#id && this.#order) this.emit('slot', slot);
      if (idle === this.#id) this.emit('idle');
    });
  }

  /** A new load: all that is under way is hung up on. @param {{ port, rate?, clients?, seed?, leaseMs? }} load */
  drive(load) {
    this.#id += 1;
    this.#order = { seed: 1, ...load, id: this.#id };
    this.#child.send({ drive: this.#order });
  }

  /** Goes on with the load, at another rate or only for longer. */
  goOn(rate = this.#order.rate) {
    this.#order = { ...this.#order, rate };
    this.#child.send({ drive: this.#order });
  }

  stop() {
    this.#order = undefined;
    this.#child.send({ stop: true });
  }

  get isDriving() {
    return this.#order !== undefined;
  }

  get exited() {
    return this.#child.exited;
  }

  end() {
    return endChild(this.#child);
  }
}
