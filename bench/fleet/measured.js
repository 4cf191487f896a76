/** Measurements of one machine, with the command that measured it: `node bench/fleet/measure/main.js`. */
import { readFileSync } from 'node:fs';

/** File of the measurements. */
export const measuredFile = new URL('./measured.json', import.meta.url);

/** @type {{ command: string, date: string, machine: object, notes: string[], values: Record<string, number> }} */
export const measurement = JSON.parse(readFileSync(measuredFile, 'utf8'));

/** The measured inputs by name. */
export const measured = measurement.values;
