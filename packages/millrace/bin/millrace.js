#!/usr/bin/env node
// Not built, so that it can be linked and called as soon as the package is installed.
import '../dist/tools/main.js';
