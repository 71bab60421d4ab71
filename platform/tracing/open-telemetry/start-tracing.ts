import type { TracingConfig } from '../../config/tracing.ts';
import type { Lifecycle } from '../../process/lifecycle.ts';
import type { Logger } from '../../process/logger.ts';
import { noTracer, type Tracer } from '../span.ts';

interface TracingParts {
  readonly config: { readonly role: string; readonly tracing: TracingConfig | null };
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
}

/** Makes the tracer of a process as its settings say; OpenTelemetry is loaded only where they name a collector. */
export async function startTracing({ config, lifecycle, logger }: TracingParts): Promise<Tracer> {
  const { tracing, role } = config;
  if (tracing === null) return noTracer;
  const { createOpenTelemetryTracer } = await import('./open-telemetry.ts');
  const { tracer, stop } = createOpenTelemetryTracer({ ...tracing, role, logger });
  lifecycle.add('tracing', stop);
  logger.info({ endpoint: tracing.endpoint }, 'traces are sent');
  return tracer;
}
