import { sql } from 'kysely';

import { toError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { type Metrics, noMetrics } from '../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { OperatorEvent } from '../domain/operator-event.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { CredentialRefusals } from '../generators/credentials/refusals.ts';
import type { TransactionScope, Transactor } from '../tasks/storage/transactor.ts';
import { endingModels, WARN_DAYS, type EndingModel } from './model-warnings.ts';

/** Tells operators which models of theirs end soon, before a task is refused for it, and which their upstreams do not have. */
export interface ModelEnds {
  /** Tells now and once a day. */
  start(): void;
  close(): void;
}

interface Parts {
  readonly registry: GeneratorRegistry;
  readonly refusals: Pick<CredentialRefusals, 'models'>;
  readonly transactor: Transactor;
  readonly publish: (scope: TransactionScope, event: OperatorEvent) => Promise<void>;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

const DAY_MS = 86_400_000;

/** Days before an end at which the webhook `model.retiring` is sent; 0: it has come. */
const NOTICES = [0, 7, 30, WARN_DAYS];

/** Makes the warnings: log, webhook `model.retiring`, and the metric `kiln_model_days_left`. */
export function createModelEnds(parts: Parts): ModelEnds {
  const { registry, refusals, metrics = noMetrics } = parts;
  let timer: NodeJS.Timeout | undefined;
  metrics.gauge(
    'kiln_model_days_left',
    'Days until the provider ends a model; 0 and below: it has ended, or the provider does not have it.',
    ['provider', 'model'],
    () =>
      endingModels(parts).map(({ provider, model, daysLeft, goneAt }) => ({
        labels: { provider, model },
        value: goneAt === null ? (daysLeft ?? 0) : 0,
      })),
  );
  const tell = (): void => {
    for (const ending of endingModels(parts)) {
      if (ending.goneAt === null && (ending.daysLeft ?? Infinity) <= WARN_DAYS) tellEnd(parts, ending);
    }
  };
  refusals.models.onGone(({ binding, model, said, at }) => {
    const own = registry.byName(binding.name)?.models?.find(({ id }) => id === model);
    const { retiresAt = null, successor = null } = own ?? {};
    const daysLeft = own?.daysLeft() ?? null;
    const { generator } = binding;
    const data = {
      provider: binding.provider.name,
      model,
      generator,
      retiresAt,
      successor,
      daysLeft,
      reason: said,
    };
    // Once a day, though every process learns it anew after a restart.
    publish(parts, `${data.provider} ${model} gone ${at.toISOString().slice(0, 10)}`, data);
  });
  return {
    start() {
      tell();
      timer = setInterval(tell, DAY_MS).unref();
    },
    close: () => clearInterval(timer),
  };
}

function tellEnd(
  parts: Parts,
  { model, provider, generator, retiresAt, successor, daysLeft }: EndingModel,
): void {
  const left = daysLeft ?? 0;
  const facts = { model, provider, generator, retiresAt, successor, daysLeft: left };
  parts.logger.warn(
    facts,
    left > 0 ? 'a model ends soon' : 'a model has ended: nothing is sent to it any more',
  );
  const notice = NOTICES.find((days) => left <= days) ?? WARN_DAYS;
  publish(parts, `${provider} ${model} ends ${retiresAt} ${notice}`, { ...facts, reason: null });
}

/** Publishes `model.retiring` unless this warning was published before, by whichever process. */
function publish(
  { transactor, publish: deliver, logger }: Parts,
  warning: string,
  data: OperatorEvent['data'],
): void {
  transactor
    .run(async (scope) => {
      const { rows } =
        await sql`/* models.warned */ insert into media.model_warnings (warning) values (${warning})
        on conflict do nothing returning 1`.execute(scope.transaction);
      if (rows.length > 0)
        await deliver(scope, { id: newId(), type: 'model.retiring', at: new Date(), data });
    })
    .catch((thrown: unknown) => {
      logger.warn({ error: toError(thrown), warning }, 'the end of a model could not be told');
    });
}
