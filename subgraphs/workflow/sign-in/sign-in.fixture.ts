import { randomBytes } from 'node:crypto';

import { createDatabase, type Database } from '../../../platform/database/database.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import { createEventBus } from '../../../platform/events/postgres/postgres-event-bus.ts';
import { createOutboundRule } from '../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../platform/http/undici-http-client.ts';
import { createLogger } from '../../../platform/process/logger.ts';
import { migratedDatabase } from '../../../test/kit/database/migrated.ts';
import { workflowDatabase } from '../database/database.ts';
import type { PlatformIdentity } from '../domain/sign-in.ts';
import { createSignIn, type SignInOptions } from './services.ts';

/** A database of its own, and sign-in services over it: as many as there are processes. */
export interface SignInBench {
  readonly database: Database;
  readonly bus: EventBus;
  /** The services of one more process. */
  process(options?: Partial<SignInOptions>): ReturnType<typeof createSignIn>;
  close(): Promise<void>;
}

export const identity = (change: Partial<PlatformIdentity> = {}): PlatformIdentity => ({
  platform: 'idp',
  appId: 'https://idp.example.org',
  subject: 'anna',
  unionId: null,
  email: 'anna@example.org',
  name: 'Anna',
  picture: null,
  secret: null,
  ...change,
});

export async function openBench(): Promise<SignInBench> {
  const logger = createLogger({ level: 'silent' });
  const home = await migratedDatabase();
  const database = createDatabase({
    config: home.config,
    maxConnections: 4,
    applicationName: 'test',
    logger,
  });
  const made: { close(): void }[] = [];
  const secret = randomBytes(32).toString('hex');
  const bus = await createEventBus({ database, logger });
  const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger });
  return {
    database,
    bus,
    process(options = {}) {
      const services = createSignIn({
        database: workflowDatabase(database),
        bus,
        publicUrl: 'https://kiln.example.org',
        secret,
        admins: [],
        http,
        logger,
        provider: null,
        platforms: [],
        redirects: [],
        ...options,
      });
      made.push(services);
      return services;
    },
    async close() {
      for (const services of made) services.close();
      await http.close();
      await bus.close();
      await database.close();
      await home.drop();
    },
  };
}
