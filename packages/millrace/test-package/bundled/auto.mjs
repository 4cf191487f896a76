import fs from 'node:fs';
import { features } from 'millrace/auto';
import { autoRun } from './auto-run.mjs';
import { main } from './main.mjs';

main(() => autoRun(fs, features));
