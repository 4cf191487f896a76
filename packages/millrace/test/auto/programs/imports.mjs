// Imports auto by itself, and says what it got.
import { features, settings } from 'millrace/auto';

console.log(JSON.stringify({ fs: features.fs.state, mode: settings.mode }));
