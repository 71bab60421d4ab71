import { UpstreamError } from '../../domain/failure.ts';
import type { JobCapability, Provider } from '../../providers/contract/provider.ts';

/** The same provider; the listener is told of models whose vendor has refused an input, when it starts or later. */
export function refusalsOf(provider: Provider, refused: (model: string) => void): Provider {
  const tell = (error: unknown, model: string | null): void => {
    if (model !== null && error instanceof UpstreamError && error.code === 'INVALID_INPUT') refused(model);
  };
  const watched = (job: JobCapability): JobCapability => ({
    ...job,
    async start(request, context) {
      try {
        return await job.start(request, context);
      } catch (error) {
        tell(error, context.connection.model);
        throw error;
      }
    },
    async status(handle, context) {
      const status = await job.status(handle, context);
      if (status.state === 'failed') tell(status.error, context.connection.model);
      return status;
    },
  });
  const jobs = Object.entries(provider.jobs ?? {}).map(([kind, job]) => [
    kind,
    watched(job as JobCapability),
  ]);
  return { ...provider, jobs: Object.fromEntries(jobs) as Provider['jobs'] & object };
}
