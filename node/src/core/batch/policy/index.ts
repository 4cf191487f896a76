import type { PolicyName } from '../../options.js';
import { adaptive } from './adaptive.js';
import { direct } from './direct.js';
import { fixed } from './fixed.js';
import type { Policy } from './policy.js';

export const policies: Readonly<Record<PolicyName, Policy>> = { direct, fixed, adaptive };
export * from './policy.js';
