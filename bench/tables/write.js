#!/usr/bin/env node
/**
 * `node bench/tables/write.js [RESULTS.json …]`: writes the tables of README.md and docs/benchmarks/measured.md from what is kept in
 * bench/measured. Results that are named, files of bench/results, are kept before. `make bench NAME=… SAVE=1` does both.
 */
import { readFileSync } from 'node:fs';
import { pages, writePages } from './pages.js';
import { save } from './store.js';

for (const path of process.argv.slice(2)) save(JSON.parse(readFileSync(path, 'utf8')));
writePages();
console.log(`written: ${pages.join(', ')}`);
