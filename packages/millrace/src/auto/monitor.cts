import type { Monitor, MonitorOptions } from '@millrace/monitor' with {
  'resolution-mode': 'import',
};
import type { Part } from './feature.cjs';
import { checkModules, sentence } from './functions.cjs';

/** Monitor of this thread, for metrics, the dashboard and whoever asks `sources()`. */
export class MonitorPart implements Part {
  why: string | null = null;
  #monitor: Monitor | null = null;
  #isOn = false;

  constructor(private readonly options: MonitorOptions) {}

  get state() {
    return this.#monitor === null ? 'waiting' : 'active';
  }

  async on(): Promise<void> {
    this.#isOn = true;
    try {
      checkModules();
      const { monitor } = await import('@millrace/monitor');
      if (this.#isOn) this.#monitor ??= monitor(this.options);
    } catch (error) {
      this.why = sentence(error);
    }
  }

  off(): void {
    this.#isOn = false;
    this.#monitor?.stop();
    this.#monitor = null;
  }
}
