#!/usr/bin/env node
/** `make experiment NAME=…` and `millrace experiment`: one question, two arms or more, a verdict. */
import { experimentCommand } from './command.js';

await experimentCommand(process.argv.slice(2));
