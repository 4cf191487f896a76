const { bun, deno } = process.versions as { bun?: string; deno?: string };

/** Name and version of the runtime where it is not Node.js: `Bun 1.4.5`; null in Node.js. */
export const otherRuntime: string | null =
  bun !== undefined ? `Bun ${bun}` : deno !== undefined ? `Deno ${deno}` : null;
