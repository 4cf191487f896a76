import fs from 'node:fs';
import { features } from 'millrace/auto';
import { main } from '../../../../scripts/lib/bundled/main.mjs';
import { autoRun } from './auto-run.mjs';

main(() => autoRun(fs, features));
