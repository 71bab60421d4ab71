import { ownWhatStarts } from './owner.ts';

// What the tests of a file start ends with the file's process.
ownWhatStarts();
