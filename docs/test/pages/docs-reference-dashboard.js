import assert from 'node:assert/strict';

export const setup = () => ({});

export const checks = {
  'without-auto': ({ dashboard }) =>
    assert.match(dashboard.url, /^http:\/\/127\.0\.0\.1:[1-9]\d*\/$/),
};
