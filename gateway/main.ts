import { runProcess } from '../platform/run-process.ts';
import { startMediaProcess } from '../subgraphs/media/process.ts';
import { startWorkflowProcess } from '../subgraphs/workflow/process.ts';
import { startEverything } from './composition/everything.ts';
import { startGatewayAlone } from './composition/gateway-alone.ts';

// The composition root: the settings say which role this process has (`npm start`, ROLE, `npm run start:ROLE`).
await runProcess(async (parts) => {
  switch (parts.config.role) {
    case 'all':
      await startEverything(parts);
      return;
    case 'gateway':
      await startGatewayAlone(parts);
      return;
    case 'workflow':
      await startWorkflowProcess(parts);
      return;
    case 'media':
    case 'worker':
      await startMediaProcess(parts);
  }
});
