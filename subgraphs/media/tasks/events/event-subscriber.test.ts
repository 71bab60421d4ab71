import { expect, it } from 'vitest';

import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import { createEventHub } from './event-hub.ts';

it('is over at once for somebody who left while the task was looked up, and registers nobody', async () => {
  // Neither is asked anything: there is nobody to read or listen for.
  const hub = createEventHub({ database: {} as MediaDatabase, bus: {} as EventBus, logger: silentLogger() });
  const events = hub.subscribe({
    taskId: '0199aaaa-0000-7000-8000-000000000000',
    after: 0,
    signal: AbortSignal.abort(),
    state: 'RUNNING',
    lastSeq: 3,
  });
  expect(await events.next()).toEqual({ done: true, value: undefined });
  expect(await events.return?.()).toEqual({ done: true, value: undefined });
  expect(hub.subscriberCount()).toBe(0);
});
