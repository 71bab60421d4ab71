import { sql } from 'kysely';

import { toError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { type Metrics, noMetrics } from '../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { OperatorEvent } from '../domain/operator-event.ts';
import type { GeneratorRegistry, Binding } from '../generators/bindings/binding.ts';
import type { CredentialRefusals } from '../generators/credentials/refusals.ts';
import type { TransactionScope, Transactor } from '../tasks/storage/transactor.ts';

interface Parts {
  readonly registry: GeneratorRegistry;
  readonly refusals: Pick<CredentialRefusals, 'models'>;
  readonly transactor: Transactor;
  readonly publish: (scope: TransactionScope, event: OperatorEvent) => Promise<void>;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

const DAY_MS = 86_400_000;

/** Days before its end from which a model is reported. */
const WARN_DAYS = 60;

/** Days before an end at which the webhook `model.retiring` is sent; 0: it has come. */
const NOTICES = [0, 7, 30, WARN_DAYS];

/**
 * Tells operators which models of theirs end soon, before a task is refused for it, and which their upstreams do not
 * have. Makes the warnings: log, webhook `model.retiring`, and the metric `kiln_model_days_left`.
 */
export function createModelEnds(parts: Parts) {
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
    /** Tells now and once a day. */
    start(): void {
      tell();
      timer = setInterval(tell, DAY_MS).unref();
    },
    close: (): void => clearInterval(timer),
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

/** A model whose end is known, or that its upstream does not have. */
export interface ModelWarning {
  readonly model: string;
  /** The first day on which its provider refuses it, YYYY-MM-DD; null: none is known. */
  readonly retiresAt: string | null;
  /** Days until then, 0 and below: it has ended; null: no end is known. */
  readonly daysLeft: number | null;
  readonly successor: string | null;
  /** When its upstream refused it last, as one that it does not have; null: it did not. */
  readonly goneAt: Date | null;
}

/** The same, with whose model it is. */
interface EndingModel extends ModelWarning {
  readonly provider: string;
  readonly generator: string;
}

interface Known {
  readonly registry: Pick<GeneratorRegistry, 'all'>;
  readonly refusals: Pick<CredentialRefusals, 'models'>;
}

/** Each model of a real upstream whose end is known or that it does not have, once for a provider. */
function endingModels({ registry, refusals }: Known): readonly EndingModel[] {
  const all = registry.all().flatMap((binding) => {
    const { generator, provider } = binding;
    return findWarnings(binding, refusals).map((one) => ({ ...one, provider: provider.name, generator }));
  });
  const sorted = all.toSorted((one, other) => Number(one.goneAt !== null) - Number(other.goneAt !== null));
  return [...new Map(sorted.map((one) => [`${one.provider} ${one.model}`, one])).values()];
}

/** Those of a binding that need a look: they end soon, have ended, or are gone. */
export function urgentWarnings(
  binding: Binding,
  refusals: Pick<CredentialRefusals, 'models'>,
): readonly ModelWarning[] {
  return findWarnings(binding, refusals).filter(
    ({ goneAt, daysLeft }) => goneAt !== null || (daysLeft !== null && daysLeft <= WARN_DAYS),
  );
}

/** The sandbox ends no model. */
function findWarnings(
  { name, models = [], sandbox }: Binding,
  refusals: Pick<CredentialRefusals, 'models'>,
): readonly ModelWarning[] {
  const gone = new Map(refusals.models.of(name).map(({ model, at }) => [model, at]));
  const listed = models.flatMap(({ id, retiresAt, successor, daysLeft }): ModelWarning[] => {
    const goneAt = gone.get(id) ?? null;
    gone.delete(id);
    const end = sandbox ? null : retiresAt;
    if (end === null && goneAt === null) return [];
    return [{ model: id, retiresAt: end, daysLeft: end === null ? null : daysLeft(), successor, goneAt }];
  });
  const others = [...gone].map(([model, goneAt]) => ({
    model,
    retiresAt: null,
    daysLeft: null,
    successor: null,
    goneAt,
  }));
  return [...listed, ...others];
}
