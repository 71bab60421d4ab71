import { runProcess } from '../../platform/runtime/run-process.ts';
import { startMediaProcess } from './process.ts';

// Everything in one process is gateway/main.ts.
await runProcess(startMediaProcess);
