import { runProcess } from '../../platform/run-process.ts';
import { startMediaProcess } from './process.ts';

// Everything in one process is gateway/main.ts.
await runProcess(startMediaProcess);
