import { runProcess } from '../../platform/run-process.ts';
import { startWorkflowProcess } from './process.ts';

// Everything in one process is gateway/main.ts.
await runProcess(startWorkflowProcess);
