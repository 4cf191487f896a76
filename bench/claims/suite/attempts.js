/** Work that others do not depend on: what fails is told, and the rest goes on. */
export class Attempts {
  /** True if one has failed. */
  hasFailed = false;

  /** @param {() => void} work */
  try(work) {
    try {
      work();
    } catch (error) {
      this.hasFailed = true;
      console.error(`Failed: ${error.message}.`);
    }
  }
}
