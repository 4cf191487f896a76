/** The tasks. */

/** Hardly any work, so that what a queue costs shows. */
export const double = (n) => n * 2;

/** Long enough that a worker is killed while it has some. */
export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
