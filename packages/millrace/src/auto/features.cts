/** The features of auto. Each waits, at next to no cost, for the first thing that it could act on, and is loaded then. */
import { builtin, otherRuntime } from '@millrace/base/realm';
// Loaded here, before an application can replace timers.
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { Feature, FeatureName, FeatureState, Part, Settings } from './feature.cjs';
import { checkModules, sentence } from './functions.cjs';

const { subscribe, unsubscribe } = builtin('node:diagnostics_channel');

/** Calls back once, unless the function that it returns is called first. */
type Trigger = (fire: () => void) => () => void;

/** Name of the file, in the working folder. */
export const usualFile = 'millrace.config.json';

/** The settings when neither the environment nor a file says anything. */
export const defaults: Settings = Object.freeze({
  mode: 'act',
  ws: true,
  fs: true,
  dns: true,
  reads: true,
  net: false,
  guard: false,
  monitor: false,
  stalls: false,
  dashboard: false,
  metrics: false,
  file: null,
});

/** Ms after which a process no longer counts as short-lived. */
const settledMs = 100;
const clientConnection = 'net.client.socket';
const connections = ['net.server.socket', clientConnection];

const atOnce: Trigger = (fire) => {
  fire();
  return () => {};
};

/** Fires when something is published on one of these channels. */
const atFirst =
  (channels: readonly string[]): Trigger =>
  (fire) => {
    const disarm = () => {
      for (const name of channels) unsubscribe(name, onMessage);
    };
    const onMessage = () => {
      disarm();
      fire();
    };
    for (const name of channels) subscribe(name, onMessage);
    return disarm;
  };

export const whenSettled: Trigger = (fire) => {
  const timer = setTimeout(fire, settledMs);
  timer.unref();
  return () => clearTimeout(timer);
};

/** The first of several. */
const either =
  (...triggers: readonly Trigger[]): Trigger =>
  (fire) => {
    const disarm = () => {
      for (const end of ends) end();
    };
    const ends = triggers.map((trigger) =>
      trigger(() => {
        disarm();
        fire();
      }),
    );
    return disarm;
  };

/** Several parts of one feature. */
class Parts implements Part {
  readonly #parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  get state(): Part['state'] {
    return this.#parts.some(({ state }) => state === 'active') ? 'active' : 'waiting';
  }

  get why(): string | null {
    return this.#parts.find(({ why }) => why !== null)?.why ?? null;
  }

  on(): undefined {
    for (const part of this.#parts) part.on();
  }

  off(): void {
    for (const part of this.#parts) part.off();
  }
}

/** Reports whether a feature acts on classes of Node.js in whose place Bun has its own. */
const isUnreachable = (name: FeatureName): boolean =>
  process.versions.bun !== undefined && ['ws', 'reads', 'guard'].includes(name);

class LazyFeature implements Feature {
  readonly name: FeatureName;
  readonly #trigger: Trigger;
  readonly #load: () => Part;
  #part: Part | null = null;
  #why: string | null = null;
  #disarm: (() => void) | null = null;
  /** Settles when the part has all it needs; undefined where nobody has to wait. */
  ready: Promise<unknown> | undefined;

  constructor(name: FeatureName, trigger: Trigger, load: () => Part) {
    this.name = name;
    this.#trigger = trigger;
    this.#load = load;
  }

  get state(): FeatureState {
    if (this.#disarm === null) return 'off';
    return this.#part?.state ?? 'waiting';
  }

  get why(): string | null {
    return this.#part?.why ?? this.#why;
  }

  on(): void {
    if (this.#disarm !== null) return;
    this.#disarm = () => {};
    if (isUnreachable(this.name)) {
      this.#why = `${otherRuntime} has classes of its own in the place of those of Node.js`;
      return;
    }
    this.#disarm = this.#trigger(() => {
      try {
        this.#why = null;
        checkModules();
        this.#part ??= this.#load();
        this.ready = this.#part.on();
      } catch (error) {
        this.#why = sentence(error);
      }
    });
  }

  off(): void {
    if (this.#disarm === null) return;
    this.#disarm();
    this.#disarm = null;
    this.#part?.off();
  }
}

/** The features with their options from `settings`; all are off. */
export function makeFeatures(settings: Settings): Readonly<Record<FeatureName, LazyFeature>> {
  const options = <Name extends FeatureName>(name: Name) => {
    const given = settings[name];
    return (typeof given === 'object' ? given : {}) as Exclude<Settings[Name], boolean>;
  };
  const load = {
    ws() {
      const { WsPart } = require('./ws.cjs') as typeof import('./ws.cjs');
      return new WsPart(options('ws'));
    },
    fs() {
      const { FsPart } = require('./fs.cjs') as typeof import('./fs.cjs');
      const { FileCallsPart } = require('./file-calls.cjs') as typeof import('./file-calls.cjs');
      return new Parts([new FsPart(whenSettled), new FileCallsPart()]);
    },
    dns() {
      const { DnsPart } = require('./dns.cjs') as typeof import('./dns.cjs');
      return new DnsPart(options('dns'));
    },
    reads() {
      const { ReadsPart } = require('./reads.cjs') as typeof import('./reads.cjs');
      return new ReadsPart(options('reads'));
    },
    net() {
      const { NetPart } = require('./net.cjs') as typeof import('./net.cjs');
      return new NetPart(options('net'));
    },
    guard() {
      const { GuardPart } = require('./guard.cjs') as typeof import('./guard.cjs');
      return new GuardPart(options('guard'));
    },
    monitor() {
      const { MonitorPart } = require('./monitor.cjs') as typeof import('./monitor.cjs');
      return new MonitorPart(options('monitor'));
    },
    stalls() {
      const { StallsPart } = require('./stalls.cjs') as typeof import('./stalls.cjs');
      return new StallsPart(options('stalls'), settings.dashboard !== false);
    },
  };
  const feature = (name: FeatureName, trigger: Trigger) =>
    new LazyFeature(name, trigger, load[name]);
  return Object.freeze({
    ws: feature('ws', atFirst(connections)),
    fs: feature('fs', atOnce),
    // A client publishes itself before it looks a name up. To load node:dns would cost programs that end soon.
    dns: feature('dns', either(atFirst([clientConnection]), whenSettled)),
    reads: feature('reads', atFirst(connections)),
    net: feature('net', atOnce),
    guard: feature('guard', atOnce),
    monitor: feature('monitor', whenSettled),
    // The first turn of a program may be the one that blocks.
    stalls: feature('stalls', atOnce),
  });
}
