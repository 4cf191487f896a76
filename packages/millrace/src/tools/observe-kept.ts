/** Reports that processes could not make themselves. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sawSomething } from './observe/format.js';
import { type KeptReport, keptIn } from './observe/kept.js';
import { say, writeJson } from './observe/output.js';
import { tell, terminal } from './observe/tell.js';

/** A folder for what is kept; null where there is none to be had. */
export function makeFolder(): string | null {
  try {
    return mkdtempSync(join(tmpdir(), 'millrace-observe-'));
  } catch {
    return null;
  }
}

/** Reports what is left in the folder, and removes it. Returns whether all of it could be written. */
export function tellKept(folder: string): boolean {
  try {
    return keptIn(folder)
      .filter(({ report }) => report.application.thread === 0 || sawSomething(report))
      .map(tellOne)
      .every((isTold) => isTold);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tellOne({ report, json, ageMs }: KeptReport): boolean {
  const { pid } = report.application;
  const seconds = (ageMs / 1000).toFixed(1);
  const where = json === null ? '' : ` is in ${json}`;
  try {
    if (json !== null) writeJson(json, report);
  } catch (error) {
    say(`millrace observe: the report cannot be written: ${(error as Error).message}.\n`);
    return false;
  }
  const note = `\nmillrace observe: process ${pid} ended before it could report. What it had seen ${seconds} s ago${where || ' follows'}.\n`;
  return say(note) && (json !== null || tell(report, terminal()));
}
