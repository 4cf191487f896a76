/** How far predictions of waits are off. Pure. */

/** How much longer waits are than predicted: the factor by which predictions are multiplied. */
export class Correction {
  /** Predictions are off by a little rather than by a lot: one odd request must not turn everything away. */
  static readonly min = 0.5;
  static readonly max = 4;
  value = 1;

  /** One request waited so long, and was predicted to, before correction. */
  learn(actualMs: number, predictedMs: number): void {
    // Of short waits the grain of slices is a large part.
    if (predictedMs < 20) return;
    const ratio = Math.min(Correction.max, Math.max(Correction.min, actualMs / predictedMs));
    this.value += 0.05 * (ratio - this.value);
  }
}
