import { sql } from 'kysely';

import { toError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { MediaTransaction } from '../database/database.ts';
import type { OperatorEvent } from '../domain/operator-event.ts';
import type { ProviderChange } from '../generators/breakers/breakers.ts';
import type { TransactionScope, Transactor } from '../tasks/storage/transactor.ts';

/** Publishes once that a provider went away or came back, though every process may see it. */
export function createProviderEvents(options: {
  readonly transactor: Transactor;
  readonly logger: Logger;
  readonly publish: (scope: TransactionScope, event: OperatorEvent) => Promise<void>;
}): (change: ProviderChange) => void {
  const { transactor, logger, publish } = options;
  return ({ binding, place, isUnavailable, ...data }) => {
    transactor
      .run(async (scope) => {
        if (!(await hasChanged(scope.transaction, { binding, place, isUnavailable }))) return;
        const type = isUnavailable ? 'provider.down' : 'provider.up';
        await publish(scope, { id: newId(), type, at: new Date(), data: { binding, ...data } });
      })
      .catch((thrown: unknown) => {
        logger.warn({ error: toError(thrown), binding }, 'the state of a provider could not be told');
      });
  };
}

/**
 * Writes the state; false when it was known. A provider that was never away does not come back. That one is away may also have been
 * told by a process of the release before, under its place.
 */
async function hasChanged(
  transaction: MediaTransaction,
  { binding, place, isUnavailable }: Pick<ProviderChange, 'binding' | 'place' | 'isUnavailable'>,
): Promise<boolean> {
  const { rows } = isUnavailable
    ? await sql`/* providers.away */
        insert into media.provider_states (binding, is_away) values (${binding}, true)
        on conflict (binding) do update set is_away = true, since = now() where not media.provider_states.is_away
        returning 1`.execute(transaction)
    : await sql`/* providers.back */
        update media.provider_states set is_away = false, since = now()
        where binding in (${binding}, ${place}) and is_away returning 1`.execute(transaction);
  return rows.length > 0;
}
