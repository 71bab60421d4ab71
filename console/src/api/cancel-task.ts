import { cache } from './client.ts';
import { kiln } from './kiln.ts';

/** Asks for the end of a task; that it was asked is shown at once, its end by its events. */
export async function cancelTask(id: string): Promise<void> {
  const { cancelRequestedAt, endedAt } = await kiln.cancel(id);
  cache.modify({
    id: cache.identify({ __typename: 'Task', id }) ?? '',
    fields: { cancelRequestedAt: () => cancelRequestedAt ?? endedAt },
  });
}
