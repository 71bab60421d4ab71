import { type Metrics, noMetrics } from '../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { GeneratorRegistry, ListedModel } from '../generators/bindings/binding.ts';

/** Tells operators which models of theirs end soon, before a task is refused for it. */
export interface ModelEnds {
  /** Tells now and once a day. */
  start(): void;
  close(): void;
}

interface Parts {
  readonly registry: GeneratorRegistry;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

/** Days before its end from which a model is told of. */
const WARN_DAYS = 60;
const DAY_MS = 86_400_000;

/** Makes the warnings, and the metric `kiln_model_days_left`. */
export function createModelEnds({ registry, logger, metrics = noMetrics }: Parts): ModelEnds {
  let timer: NodeJS.Timeout | undefined;
  metrics.gauge(
    'kiln_model_days_left',
    'Days until the provider ends a model; 0 and below: it has ended.',
    ['provider', 'model'],
    () =>
      endingModels(registry).map(({ provider, id, daysLeft }) => ({
        labels: { provider, model: id },
        value: daysLeft() ?? 0,
      })),
  );
  const tell = (): void => {
    for (const { id, provider, generator, retiresAt, successor, daysLeft } of endingModels(registry)) {
      const left = daysLeft() ?? 0;
      if (left > WARN_DAYS) continue;
      const facts = { model: id, provider, generator, retiresAt, successor, daysLeft: left };
      logger.warn(
        facts,
        left > 0 ? 'a model ends soon' : 'a model has ended: nothing is sent to it any more',
      );
    }
  };
  return {
    start() {
      tell();
      timer = setInterval(tell, DAY_MS).unref();
    },
    close: () => clearInterval(timer),
  };
}

/** Each model of a real upstream whose end is known, once for a provider. The sandbox ends none. */
function endingModels(registry: GeneratorRegistry): readonly ListedModel[] {
  const ending = registry
    .models({ retired: true })
    .filter(({ sandbox, retiresAt }) => !sandbox && retiresAt !== null);
  return [...new Map(ending.map((model) => [`${model.provider} ${model.id}`, model])).values()];
}
