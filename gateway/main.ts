import { isSupervised } from '../platform/process/cluster/messages.ts';
import { runProcess, type ProcessParts } from '../platform/runtime/run-process.ts';
import { buildConsole } from './composition/build-console.ts';
import { reportServing, stopWithSupervisor, supervise } from './composition/supervisor.ts';

// Entry point of every role (`npm start`, ROLE, `npm run start:ROLE`). Only what the role needs is loaded: a gateway
// alone is 80 MB smaller for it.
await runProcess(async (parts) => {
  // It reads another graph again (composition/other-graph/reload.ts): one that comes during the start must not end the process.
  if (parts.config.split.isOtherGraph) process.on('SIGHUP', () => undefined);
  if (parts.config.processes > 1 && !isSupervised) return startSupervised(parts);
  if (isSupervised) stopWithSupervisor(parts);
  await startRole(parts);
  if (isSupervised) reportServing();
});

/** What all processes share is opened by the supervisor, before the first of them starts. */
async function startSupervised(parts: ProcessParts): Promise<void> {
  if (parts.config.role === 'all') {
    const { openData } = await import('../platform/runtime/open-data.ts');
    await openData(parts).connection;
    if (parts.config.console.build) buildConsole(parts);
  }
  await supervise(parts);
}

async function startRole(parts: ProcessParts): Promise<void> {
  switch (parts.config.role) {
    case 'all': {
      const { openData } = await import('../platform/runtime/open-data.ts');
      // The database starts while the rest is loaded: in pieces, between which it is noticed how far its start has come.
      const data = openData(parts);
      await import('../platform/runtime/runtime.ts');
      await import('../subgraphs/media/compose.ts');
      const { startEverything } = await import('./composition/everything.ts');
      await startEverything(parts, data);
      if (parts.config.console.build && !isSupervised) buildConsole(parts);
      return;
    }
    case 'gateway': {
      const { startGatewayAlone } = await import('./composition/gateway-alone.ts');
      await startGatewayAlone(parts);
      return;
    }
    case 'workflow': {
      const { startWorkflowProcess } = await import('../subgraphs/workflow/process.ts');
      await startWorkflowProcess(parts);
      return;
    }
    case 'media':
    case 'worker': {
      const { startMediaProcess } = await import('../subgraphs/media/process.ts');
      await startMediaProcess(parts);
    }
  }
}
