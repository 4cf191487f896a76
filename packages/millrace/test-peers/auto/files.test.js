import { underAuto } from './lib/under-auto.js';

underAuto('files');
