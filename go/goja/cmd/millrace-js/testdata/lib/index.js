#!/usr/bin/env node
exports.name = require('./counter').next() + ' by index';
